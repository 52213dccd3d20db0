/// SQL that says whether an account has not moved since the session `s` was opened, or more was shown for
/// that than that its person reads the mailbox: as `SecurityStamp.holds`.
func movesHold(_ moves: String = "x.moves") -> String {
    """
    (\(moves) = coalesce((s.terms ->> 'moves')::bigint, 0)
        or coalesce((s.terms -> 'amr')::jsonb, '[]') = '[]'
        or not (s.terms -> 'amr')::jsonb <@ '["otp", "mail"]')
    """
}
