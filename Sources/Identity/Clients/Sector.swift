extension ClientMetadata {
    /// The sector that a client with subs of its own belongs to: those of one sector are told the same.
    /// Nil for a client without a sector, or with several hosts.
    public var sector: String? {
        guard self.subjectType == .pairwise else { return nil }
        if let sectorURI = self.sectorURI { return AbsoluteURI(sectorURI)?.host }
        let hosts = Set(self.redirectURIs.map { AbsoluteURI($0)?.host })
        guard hosts.count == 1, let only = hosts.first else { return nil }
        return only
    }
}
