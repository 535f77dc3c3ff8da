"""A generated benchmark of dated assistant chats: facts, evidence and answers known by construction."""
