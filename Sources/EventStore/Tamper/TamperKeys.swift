import Cryptography

/// What a realm's keys say about its log.
extension RealmKeys {
    /// Nil unless the note is a checkpoint that this realm signed.
    /// - Parameter known: one whose signature was made or verified before: the same bytes are not verified again.
    func checkpoint(_ note: [UInt8], known: SignedCheckpoint? = nil) -> SignedCheckpoint? {
        if let known, known.note == note { return known }
        return SignedCheckpoint(note: note, key: signing.publicKey)
    }

    /// Nil unless the row's note is signed, and its columns say the same.
    func checkpoint(
        _ row: TamperTable.CheckpointRow, known: SignedCheckpoint? = nil
    ) -> SignedCheckpoint? {
        guard let signed = checkpoint(row.note, known: known), signed.size == row.size,
            signed.root.bytes == row.root
        else { return nil }
        return signed
    }

    /// Whether the application wrote a leaf. Without allocations: it is asked for every event.
    func isAuthentic(_ leaf: TreeHash, mac tag: UnsafeRawBufferPointer) -> Bool {
        guard tag.count == Record.macLength else { return false }
        return withUnsafeTemporaryAllocation(byteCount: HMACKey.tagLength, alignment: 8) { room in
            mac.contains { key in
                leaf.withUnsafeBytes { key.authenticate($0, into: room) }
                return room.prefix(Record.macLength).elementsEqual(tag)
            }
        }
    }
}
