"""A generated benchmark of dated assistant chats whose facts, evidence and answers are known by construction."""
