"""Word pools that several kinds of facts share; all persons, shops, products and books are invented."""

FIRST_NAMES = tuple(
    """Aaliyah Abel Ada Adele Adrian Aiko Alba Alfie Amara Ambra Amir Anders Aniela Anouk Ansel Anton Arjun Astrid
    Aurelio Ayesha Bastian Beatriz Benoit Bianca Bodhi Bram Brigid Bruno Calla Camille Carlos Cecily Chidi Ciara
    Clement Conrad Cora Cyrus Dafydd Dagny Dalia Damian Dana Daphne Darius Delphine Desmond Dieter Dilara Dmitri
    Ebba Edgar Efua Eilidh Elena Elias Elif Elodie Emeka Emil Enzo Esme Esteban Ewan Farah Fatima Felix Femi Fiona
    Flora Florian Freya Gareth Gemma Giulia Goran Greta Gustav Hamid Hana Harriet Hassan Hedda Henrik Hugo Ibrahim
    Ida Ilse Imani Imre Ines Ingrid Isak Isolde Ivo Jamila Janek Jasper Jelena Joaquin Johanna Jonas Josefa Jude
    Juno Kaito Kamila Karim Katya Keiko Kenji Kiran Klara Kofi Laila Lars Leandro Leila Lennart Leonie Linus Livia
    Lorenzo Lucia Ludo Maeve Magnus Malik Mara Marcel Margit Marisol Marlow Matteo Mei Milan Mina Mirela Moritz
    Nadia Naomi Nikhil Nils Noor Odette Olaf Oleg Olive Omar Orla Oskar Otto Paloma Pascal Petra Pia Priya Quentin
    Rafael Ragnar Ramona Rashid Renata Rhys Rosalind Ruben Saga Salma Samir Sanne Saskia Selma Signe Silas Soraya
    Stellan Sunniva Tamsin Tariq Tessa Theo Tobias Tomas Umar Ursula Valentin Vera Viggo Wanda Willa Xavier Yara
    Yusuf Zadie Zoltan""".split()
)
SURNAMES = tuple(
    """Abara Adeyemi Almeida Andersson Baptiste Barros Bellini Bergstrom Bianchi Brennan Calloway Castellano Chandra
    Dalgaard Delacroix Demir Dlamini Dubois Eklund Farouk Ferreira Fontaine Gallagher Georgiou Haddad Halvorsen Hoshino
    Ivanova Jansen Kapoor Kavanagh Kowalczyk Laurent Lindqvist Lombardi Maduro Marchetti Mbeki Moreau Nakagawa Novak
    Nwosu Okafor Oyelaran Palmer Pereira Petrov Quintero Rahimi Rasmussen Sandoval Sarkissian Schreiber Silvestri
    Takahashi Thorne Underwood Valdez Vasquez Vermeulen Whitlock Yilmaz Zamora Zielinski""".split()
)
CITIES = tuple(
    """Aarhus, Antwerp, Bergen, Bilbao, Bologna, Bordeaux, Brighton, Bristol, Cork, Cracow, Dresden, Dundee, Funchal,
    Galway, Genoa, Ghent, Gdansk, Graz, Halifax, Hobart, Innsbruck, Kyoto, Leeds, Leipzig, Lille, Ljubljana, Lyon, Malmo,
    Mainz, Nantes, Oaxaca, Odense, Ottawa, Porto, Quito, Riga, Rotterdam, Salzburg, Seville, Sheffield, Split,
    Stavanger, Tallinn, Tampere, Trieste, Turin, Uppsala, Utrecht, Valencia, Valparaiso, Verona, Vilnius, Wellington,
    York, Zagreb""".replace("\n    ", " ").split(", ")
)
TIES = tuple(
    """friend, colleague, neighbour, old classmate, running mate, cousin by marriage, former boss, gym buddy, pen pal,
    study partner, old roommate, bandmate""".replace("\n    ", " ").split(", ")
)
PET_NAMES = tuple(
    """Biscuit Pickle Waffles Nimbus Pepper Juniper Mochi Tofu Captain Domino Bramble Truffle Ziggy Clementine Pixel
    Rumble Sesame Tango Velvet Widget Acorn Bandit Cricket Dumpling Ember Figaro Gizmo Hazel Inky Jellybean Kipper
    Marzipan Noodle Orbit Paprika Quill Radish Sprocket Turnip Wasabi""".split()
)
BOOKS = tuple(
    f"{first} {second}"
    for first, second in zip(
        """The Salt / The Quiet / A Winter of / The Cartographer's / Eleven / Beneath the / The Last / Songs for the /
        The Orchard / A Map of / The Glass / Letters from / The Drowned / Night Train to / The Weight of / An Atlas of /
        The Beekeeper's / Seven / The Paper / Return to""".replace("\n        ", " ").split(" / "),
        """Archive / Meridian / Small Fires / Apprentice / Lanterns / Copper Hill / Ferryman / Unlit Road /
        Conspiracy / Forgotten Rivers / Harbour / the Tundra / Observatory / Samarkand / Feathers / Vanished Gardens /
        Ledger / Quiet Rooms / Lighthouse / Willow Street""".replace("\n        ", " ").split(" / "),
        strict=True,
    )
)
JOBS = tuple(
    """a glassblower, a paramedic, a court interpreter, a bridge engineer, a pastry chef, a marine biologist, a tram
    driver, a locksmith, a piano tuner, a nurse, a tax adviser, a landscape architect, a radio producer, a carpenter,
    a data analyst, a beekeeper, a flight dispatcher, a sound engineer, a speech therapist, a stonemason, a cartographer,
    a vet, a set designer, a bookbinder, a geologist, a midwife, a park ranger, a watchmaker""".replace(
        "\n    ", " "
    ).split(", ")
)
SHOPS = tuple(
    f"{first} {second}"
    for first in ("Marlow", "Birch", "Copperfield", "Halden", "Old Mill", "Lantern", "Northgate", "Juniper", "Tidewater")
    for second in ("Supply", "Trading", "Bazaar", "Outlet", "& Daughters", "Warehouse")
)
VENUES = tuple(
    f"{first} {second}"
    for first in ("The Amber", "Casa", "The Crooked", "Little", "The Velvet", "Old", "The Hidden", "Blue", "The Painted")
    for second in ("Heron", "Lantern", "Fig", "Anchor", "Sparrow", "Magnolia", "Compass", "Otter", "Thistle")
)
MODELS = tuple(
    f"{first} {second}"
    for first in ("Veldt", "Orrin", "Kestra", "Lumo", "Halcyon", "Tarn", "Novaro", "Brisk")
    for second in ("S2", "Air", "Pro 4", "Mini", "X9", "Classic", "Trail", "One")
)
COLOURS = tuple(
    """pale sage, mustard yellow, dusty pink, midnight blue, terracotta, mint green, charcoal grey, cream, burnt orange,
    lavender, forest green, sky blue, brick red, ivory""".replace("\n    ", " ").split(", ")
)
SUBJECTS = tuple(
    """pottery, Portuguese, astronomy, bookkeeping, watercolour, beekeeping, screenwriting, Japanese, statistics, woodwork,
    bookbinding, first aid, Icelandic, photography, glass painting, opera history, web design, calligraphy, botany,
    sign language""".replace("\n    ", " ").split(", ")
)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PRICES = tuple(f"${amount}" for amount in range(17, 400) if amount % 10)
MINUTES = tuple(f"{amount} minutes" for amount in (12, 15, 18, 20, 22, 25, 28, 35, 38, 40, 45, 48, 50, 55, 65, 70, 75, 80))
PLACES = tuple(
    """the blue ceramic jar, the bottom desk drawer, the hall cupboard, the shoebox under the bed, the shelf above the
    boiler, the old biscuit tin, the glove compartment, the pocket of my winter coat, the piano stool, the wicker basket,
    the attic trunk, the top of the wardrobe, the garden shed, the bathroom cabinet, the bike pannier""".replace(
        "\n    ", " "
    ).split(", ")
)
CLOCKS = tuple(f"{hour}:{minute:02d}" for hour in (6, 7, 8) for minute in (5, 10, 20, 25, 35, 40, 50, 55))
