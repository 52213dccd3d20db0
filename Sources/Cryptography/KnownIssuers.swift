internal import Synchronization

/// Issuers that were once found to be good under a root.
///
/// What a signature over fixed bytes says does not change, so that it is looked at once for each
/// issuer and root: all senders of an issuer's certificate send the same bytes. What can change is
/// looked at every time: what time it is, which roots count, and the leaf itself. Nothing is
/// remembered of a chain that did not end at one of the roots, so that a sender without a
/// certificate from a root cannot fill this cache.
public final class KnownIssuers: Sendable {
    private struct Entry {
        let issuer: Certificate
        let root: Certificate
        /// Nil until a second chain has the same issuer.
        var store: TrustStore?
    }

    private struct Roots {
        let all: [Certificate]
        let store: TrustStore
    }

    private let capacity: Int
    /// Those of the last look: they are a realm's, and change rarely.
    private let roots = Mutex<Roots?>(nil)
    /// By the digests of their bytes.
    private let entries = Mutex<[[UInt8]: Entry]>([:])

    public init(capacity: Int = 64) {
        precondition(capacity > 0, "Something has to be remembered.")
        self.capacity = capacity
    }

    /// Whether a leaf stands at the end of a good chain: it, an issuer that is known to be good under one
    /// of these roots, and that root, at that time. False says nothing: then the chain is looked at as a
    /// whole.
    public func vouch(
        for leaf: Certificate, issuer der: [UInt8], roots: [Certificate], at seconds: Int64
    ) -> Bool {
        let digest = SHA256.hash(der)
        guard let known = entries.withLock({ $0[digest] }),
            roots.contains(where: { $0.der == known.root.der }),
            known.root.isValid(at: seconds), known.issuer.isValid(at: seconds),
            let store = known.store ?? TrustStore([known.issuer])
        else { return false }
        if known.store == nil { entries.withLock { $0[digest]?.store = store } }
        return store.trusts(leaf, at: seconds)
    }

    /// The same of a leaf whose issuer may be new here: then the chain is looked at as a whole, each
    /// signature once, and its issuer is remembered. False says nothing here either.
    public func meet(
        _ issuer: Certificate, of leaf: Certificate, roots: [Certificate], at seconds: Int64
    ) -> Bool {
        guard issuer.isAuthority == true, let known = kept(roots),
            let root = known.store.root(
                of: leaf, by: [issuer], among: known.all, at: seconds)
        else { return false }
        // What a root says of names below it would have to be looked at with each leaf.
        guard !root.limitsNames else { return true }
        let digest = SHA256.hash(issuer.der)
        entries.withLock { entries in
            if entries.count >= capacity { entries.removeAll() }
            entries[digest] = Entry(issuer: issuer, root: root)
        }
        return true
    }

    private func kept(_ wanted: [Certificate]) -> Roots? {
        let known = roots.withLock { $0 }
        if let known, known.all.map(\.der) == wanted.map(\.der) { return known }
        guard let store = TrustStore(wanted) else { return nil }
        let made = Roots(all: wanted, store: store)
        roots.withLock { $0 = made }
        return made
    }
}

extension Certificate {
    /// Also true where the extension cannot be read.
    fileprivate var limitsNames: Bool {
        do throws(Failure) {
            return try self.extension("2.5.29.30") != nil
        } catch {
            return true
        }
    }
}
