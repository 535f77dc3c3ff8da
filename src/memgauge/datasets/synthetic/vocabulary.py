"""Word pools that several kinds of facts share; all persons, shops, products and books are invented."""


def words(text: str) -> tuple[str, ...]:
    """The comma-separated items of a text, whatever its line breaks.

    >>> words("ice cream, salt,\\n  tea")
    ('ice cream', 'salt', 'tea')
    """
    return tuple(" ".join(item.split()) for item in text.split(","))


FIRST_NAMES = words(
    """Aaliyah, Abel, Ada, Adele, Adrian, Aiko, Alba, Alfie, Amara, Ambra, Amir, Anders, Aniela, Anouk,
    Ansel, Anton, Arjun, Astrid, Aurelio, Ayesha, Bastian, Beatriz, Benoit, Bianca, Bodhi, Bram, Brigid,
    Bruno, Calla, Camille, Carlos, Cecily, Chidi, Ciara, Clement, Conrad, Cora, Cyrus, Dafydd, Dagny,
    Dalia, Damian, Dana, Daphne, Darius, Delphine, Desmond, Dieter, Dilara, Dmitri, Ebba, Edgar, Efua,
    Eilidh, Elena, Elias, Elif, Elodie, Emeka, Emil, Enzo, Esme, Esteban, Ewan, Farah, Fatima, Felix,
    Femi, Fiona, Flora, Florian, Freya, Gareth, Gemma, Giulia, Goran, Greta, Gustav, Hamid, Hana,
    Harriet, Hassan, Hedda, Henrik, Hugo, Ibrahim, Ida, Ilse, Imani, Imre, Ines, Ingrid, Isak, Isolde,
    Ivo, Jamila, Janek, Jasper, Jelena, Joaquin, Johanna, Jonas, Josefa, Jude, Juno, Kaito, Kamila,
    Karim, Katya, Keiko, Kenji, Kiran, Klara, Kofi, Laila, Lars, Leandro, Leila, Lennart, Leonie, Linus,
    Livia, Lorenzo, Lucia, Ludo, Maeve, Magnus, Malik, Mara, Marcel, Margit, Marisol, Marlow, Matteo,
    Mei, Milan, Mina, Mirela, Moritz, Nadia, Naomi, Nikhil, Nils, Noor, Odette, Olaf, Oleg, Olive, Omar,
    Orla, Oskar, Otto, Paloma, Pascal, Petra, Pia, Priya, Quentin, Rafael, Ragnar, Ramona, Rashid,
    Renata, Rhys, Rosalind, Ruben, Saga, Salma, Samir, Sanne, Saskia, Selma, Signe, Silas, Soraya,
    Stellan, Sunniva, Tamsin, Tariq, Tessa, Theo, Tobias, Tomas, Umar, Ursula, Valentin, Vera, Viggo,
    Wanda, Willa, Xavier, Yara, Yusuf, Zadie, Zoltan"""
)
SURNAMES = words(
    """Abara, Adeyemi, Almeida, Andersson, Baptiste, Barros, Bellini, Bergstrom, Bianchi, Brennan,
    Calloway, Castellano, Chandra, Dalgaard, Delacroix, Demir, Dlamini, Dubois, Eklund, Farouk,
    Ferreira, Fontaine, Gallagher, Georgiou, Haddad, Halvorsen, Hoshino, Ivanova, Jansen, Kapoor,
    Kavanagh, Kowalczyk, Laurent, Lindqvist, Lombardi, Maduro, Marchetti, Mbeki, Moreau, Nakagawa,
    Novak, Nwosu, Okafor, Oyelaran, Palmer, Pereira, Petrov, Quintero, Rahimi, Rasmussen, Sandoval,
    Sarkissian, Schreiber, Silvestri, Takahashi, Thorne, Underwood, Valdez, Vasquez, Vermeulen,
    Whitlock, Yilmaz, Zamora, Zielinski"""
)
CITIES = words(
    """Aarhus, Antwerp, Bergen, Bilbao, Bologna, Bordeaux, Brighton, Bristol, Cork, Cracow, Dresden,
    Dundee, Funchal, Galway, Genoa, Ghent, Gdansk, Graz, Halifax, Hobart, Innsbruck, Kyoto, Leeds,
    Leipzig, Lille, Ljubljana, Lyon, Malmo, Mainz, Nantes, Oaxaca, Odense, Ottawa, Porto, Quito, Riga,
    Rotterdam, Salzburg, Seville, Sheffield, Split, Stavanger, Tallinn, Tampere, Trieste, Turin,
    Uppsala, Utrecht, Valencia, Valparaiso, Verona, Vilnius, Wellington, York, Zagreb"""
)
TIES = words(
    """friend, colleague, neighbour, old classmate, running mate, cousin by marriage, former boss, hiking
    companion, pen pal, study partner, old roommate, bandmate"""
)
PET_NAMES = words(
    """Biscuit, Pickle, Waffles, Nimbus, Pepper, Juniper, Mochi, Tofu, Captain, Domino, Bramble, Truffle,
    Ziggy, Clementine, Pixel, Rumble, Sesame, Tango, Velvet, Widget, Acorn, Bandit, Cricket, Dumpling,
    Ember, Figaro, Gizmo, Hazel, Inky, Jellybean, Kipper, Marzipan, Noodle, Orbit, Paprika, Quill,
    Radish, Sprocket, Turnip, Wasabi"""
)
JOBS = words(
    """a glassblower, a paramedic, a court interpreter, a bridge engineer, a pastry chef, a marine
    biologist, a tram driver, a locksmith, a piano tuner, a nurse, a tax adviser, a landscape architect,
    a radio producer, a carpenter, a data analyst, a beekeeper, a flight dispatcher, a sound engineer, a
    speech therapist, a stonemason, a cartographer, a vet, a set designer, a bookbinder, a geologist, a
    midwife, a park ranger, a watchmaker"""
)
COLOURS = words(
    """pale sage, mustard yellow, dusty pink, midnight blue, terracotta, mint green, charcoal grey, cream,
    burnt orange, lavender, forest green, sky blue, brick red, ivory"""
)
SUBJECTS = words(
    """pottery, Portuguese, astronomy, bookkeeping, watercolour, beekeeping, screenwriting, Japanese,
    statistics, woodwork, bookbinding, first aid, Icelandic, photography, glass painting, opera history,
    web design, calligraphy, botany, sign language"""
)
WEEKDAYS = words("""Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday""")
PLACES = words(
    """the blue ceramic jar, the bottom desk drawer, the hall cupboard, the shoebox under the bed, the
    shelf above the boiler, the old biscuit tin, the glove compartment, the pocket of my winter coat,
    the piano stool, the wicker basket, the attic trunk, the top of the wardrobe, the garden shed, the
    bathroom cabinet, the bike pannier"""
)
BOOKS = words(
    """The Salt Archive, The Quiet Meridian, A Winter of Small Fires, The Cartographer's Apprentice, Eleven
    Lanterns, Beneath the Copper Hill, The Last Ferryman, Songs for the Unlit Road, The Orchard
    Conspiracy, A Map of Forgotten Rivers, The Glass Harbour, Letters from the Tundra, The Drowned
    Observatory, Night Train to Samarkand, The Weight of Feathers, An Atlas of Vanished Gardens, The
    Beekeeper's Ledger, Seven Quiet Rooms, The Paper Lighthouse, Return to Willow Street"""
)
SHOPS = tuple(
    f"{first} {second}"
    for first in words("Marlow, Birch, Copperfield, Halden, Old Mill, Lantern, Northgate, Juniper, Tidewater")
    for second in words("Supply, Trading, Bazaar, Outlet, & Daughters, Warehouse")
)
VENUES = tuple(
    f"{first} {second}"
    for first in words("The Amber, Casa, The Crooked, Little, The Velvet, Old, The Hidden, Blue, The Painted")
    for second in words("Heron, Lantern, Fig, Anchor, Sparrow, Magnolia, Compass, Otter, Thistle")
)
MODELS = tuple(
    f"{first} {second}"
    for first in words("Veldt, Orrin, Kestra, Lumo, Halcyon, Tarn, Novaro, Brisk")
    for second in words("S2, Air, Pro 4, Mini, X9, Classic, Trail, One")
)
PRICES = tuple(f"${amount}" for amount in range(17, 400) if amount % 10)
MINUTES = tuple(f"{amount} minutes" for amount in range(12, 95) if amount % 5 in (0, 2, 3))
CLOCKS = tuple(f"{hour}:{minute:02d}" for hour in (6, 7, 8) for minute in (5, 10, 20, 25, 35, 40, 50, 55))
