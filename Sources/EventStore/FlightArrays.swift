import EventSourcing
import Postgres
import Values

/// The arrays of a flight whose commands are judged one by one, in the order of `urd.append`'s
/// parameters: reads, claims and events name their command by its number.
struct JudgedArrays {
    private var macs = MacArray()
    private var commands = CommandArrays()
    private var readNumber = ArrayParameter(of: .int4)
    private var readStream = ArrayParameter(of: .uuid)
    private var readVersion = ArrayParameter(of: .int4)
    private var readEvents = ArrayParameter(of: .int4)
    private var claimNumber = ArrayParameter(of: .int4)
    private var claims = ClaimArrays()
    private var claimTake = ArrayParameter(of: .bool)
    private var eventNumber = ArrayParameter(of: .int4)
    private var eventOffset = ArrayParameter(of: .int4)
    private var events = EventArrays()
    private var eventKey = ArrayParameter(of: .uuid)

    init(_ batch: Batch) {
        for (index, pending) in batch.commands.enumerated() {
            append(pending.commit, number: Int32(index + 1))
        }
    }

    private mutating func append(_ commit: EncodedCommit, number: Int32) {
        macs.append(commit)
        commands.append(commit)
        for read in commit.reads {
            readNumber.append(number)
            readStream.append(read.stream)
            readVersion.append(read.version)
            readEvents.append(read.events)
        }
        for claim in commit.claims {
            claimNumber.append(number)
            claims.append(claim)
            claimTake.append(claim.take)
        }
        for (offset, event) in commit.events.enumerated() {
            eventNumber.append(number)
            eventOffset.append(Int32(offset))
            events.append(event, of: commit)
            if let key = event.key { eventKey.append(key) } else { eventKey.appendNull() }
        }
    }

    func add(to parameters: inout Parameters) {
        macs.add(to: &parameters)
        commands.add(to: &parameters)
        parameters.add([readNumber, readStream, readVersion, readEvents, claimNumber])
        claims.add(to: &parameters)
        parameters.add([claimTake, eventNumber, eventOffset])
        events.add(to: &parameters)
        parameters.add(eventKey)
    }
}

/// The arrays of a flight whose commands are all supposed to win, in the order of `urd.append_all`'s
/// parameters. What many commands rely on is asserted once.
struct HopefulArrays {
    private var types = ArrayParameter(of: .text)
    private var macs = MacArray()
    private var sealedSubject = ArrayParameter(of: .uuid)
    private var sealedKey = ArrayParameter(of: .uuid)
    private var commands = CommandArrays()
    private var assertedStream = ArrayParameter(of: .uuid)
    private var assertedVersion = ArrayParameter(of: .int4)
    private var newStream = ArrayParameter(of: .uuid)
    private var newEvents = ArrayParameter(of: .int4)
    private var movedStream = ArrayParameter(of: .uuid)
    private var movedVersion = ArrayParameter(of: .int4)
    private var movedEvents = ArrayParameter(of: .int4)
    private var taken = ClaimArrays()
    private var released = ClaimArrays()
    private var events = EventArrays()
    private var knownTypes: [String] = []
    private var knownKeys: Set<UUID> = []
    private var asserted: Set<EncodedCommit.Read> = []

    init(_ batch: Batch) {
        for pending in batch.commands { append(pending.commit) }
    }

    private mutating func append(_ commit: EncodedCommit) {
        macs.append(commit)
        commands.append(commit)
        for read in commit.reads {
            if read.events == 0 {
                // Two versions of one stream are both sent: one of them has moved on.
                guard asserted.insert(read).inserted else { continue }
                assertedStream.append(read.stream)
                assertedVersion.append(read.version)
            } else if read.version == 0 {
                newStream.append(read.stream)
                newEvents.append(read.events)
            } else {
                movedStream.append(read.stream)
                movedVersion.append(read.version)
                movedEvents.append(read.events)
            }
        }
        for claim in commit.claims {
            if claim.take { taken.append(claim) } else { released.append(claim) }
        }
        for event in commit.events {
            // A batch has few types.
            if !knownTypes.contains(event.type) {
                knownTypes.append(event.type)
                types.append(event.type)
            }
            // A key is one subject's.
            if let subject = event.subject, let key = event.key, knownKeys.insert(key).inserted {
                sealedSubject.append(subject)
                sealedKey.append(key)
            }
            events.append(event, of: commit)
        }
    }

    func add(to parameters: inout Parameters) {
        parameters.add(types)
        macs.add(to: &parameters)
        parameters.add(nullIfEmpty: [sealedSubject, sealedKey])
        commands.add(to: &parameters)
        parameters.add(nullIfEmpty: [
            assertedStream, assertedVersion, newStream, newEvents, movedStream, movedVersion,
            movedEvents,
        ])
        taken.add(to: &parameters)
        released.add(to: &parameters)
        events.add(to: &parameters)
    }
}

/// The keys that authenticate a flight, each once.
private struct MacArray {
    private var ids = ArrayParameter(of: .uuid)
    private var known: [UUID] = []

    mutating func append(_ commit: EncodedCommit) {
        guard !known.contains(commit.mac) else { return }
        known.append(commit.mac)
        ids.append(commit.mac)
    }

    func add(to parameters: inout Parameters) { parameters.add(ids) }
}

private struct CommandArrays {
    private var command = ArrayParameter(of: .uuid)
    private var digest = ArrayParameter(of: .bytea)
    private var at = ArrayParameter(of: .timestamptz)
    private var events = ArrayParameter(of: .int4)
    /// How many events stand before it.
    private var before = ArrayParameter(of: .int4)
    private var total: Int32 = 0

    mutating func append(_ commit: EncodedCommit) {
        command.append(commit.command)
        digest.append(bytes: commit.digest)
        at.append(time: commit.at.microseconds)
        events.append(Int32(commit.events.count))
        before.append(total)
        total += Int32(commit.events.count)
    }

    func add(to parameters: inout Parameters) {
        parameters.add([command, digest, at, events, before])
    }
}

private struct ClaimArrays {
    private var kind = ArrayParameter(of: .text)
    private var key = ArrayParameter(of: .bytea)
    private var stream = ArrayParameter(of: .uuid)

    mutating func append(_ claim: EncodedCommit.ClaimRow) {
        kind.append(claim.kind)
        key.append(bytes: claim.key)
        stream.append(claim.stream)
    }

    func add(to parameters: inout Parameters) {
        parameters.add(nullIfEmpty: [kind, key, stream])
    }
}

private struct EventArrays {
    private var stream = ArrayParameter(of: .uuid)
    private var version = ArrayParameter(of: .int4)
    private var type = ArrayParameter(of: .text)
    private var revision = ArrayParameter(of: .int2)
    private var at = ArrayParameter(of: .timestamptz)
    private var command = ArrayParameter(of: .uuid)
    private var subject = ArrayParameter(of: .uuid)
    private var leaf = ArrayParameter(of: .bytea)
    private var mac = ArrayParameter(of: .bytea)
    private var meta = ArrayParameter(of: .json)
    private var data = ArrayParameter(of: .json)
    private var sealed = ArrayParameter(of: .bytea)

    mutating func append(_ event: EncodedCommit.EventRow, of commit: EncodedCommit) {
        stream.append(event.stream)
        version.append(event.version)
        type.append(event.type)
        revision.append(event.revision)
        at.append(time: commit.at.microseconds)
        command.append(commit.command)
        if let owner = event.subject { subject.append(owner) } else { subject.appendNull() }
        leaf.append(bytes: event.leaf)
        mac.append(bytes: event.mac)
        meta.append(bytes: commit.meta)
        data.append(bytes: event.data)
        if let bytes = event.sealed { sealed.append(bytes: bytes) } else { sealed.appendNull() }
    }

    func add(to parameters: inout Parameters) {
        parameters.add([
            stream, version, type, revision, at, command, subject, leaf, mac, meta, data, sealed,
        ])
    }
}
