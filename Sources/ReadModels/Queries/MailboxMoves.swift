/// SQL that says whether an account has not moved since a session was opened, or more was shown for
/// that than that its person reads the mailbox: as `SecurityStamp.holds`.
func movesHold(_ moves: String = "x.moves", _ session: String = "s") -> String {
    """
    (\(moves) = coalesce((\(session).terms ->> 'moves')::bigint, 0)
        or coalesce((\(session).terms -> 'amr')::jsonb, '[]') = '[]'
        or not (\(session).terms -> 'amr')::jsonb <@ '["otp", "mail"]')
    """
}
