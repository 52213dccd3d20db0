/// A response's body that is produced while its client takes it.
///
/// `produce` runs in a task of its own, from when the response's head is sent. The body is whole when it
/// returns; when it throws, the connection is closed without the body's end, so that the client knows
/// that something is missing. The task is cancelled, and writing throws `CancellationError`, when the
/// client hangs up or the server ends the stream: then nothing more is said to the client.
public final class BodyStream: Sendable {
    public typealias Producer = @Sendable (Writer) async throws -> Void

    public let produce: Producer

    public init(_ produce: @escaping Producer) {
        self.produce = produce
    }

    /// The elements of the sequence, each sent as soon as it comes.
    public convenience init<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces)
    where Pieces.Element == [UInt8] {
        self.init { writer in
            for try await piece in pieces { try await writer.write(piece) }
        }
    }

    /// Where a producer puts its pieces.
    public struct Writer: Sendable {
        private let send: @Sendable ([UInt8]) async throws -> Void

        public init(_ send: @escaping @Sendable ([UInt8]) async throws -> Void) {
            self.send = send
        }

        /// Sends all of the piece or, when the stream is over, nothing of it and throws. Returns when
        /// there is room for the next piece: a client that reads slowly slows its producer.
        public func write(_ piece: [UInt8]) async throws { try await send(piece) }
    }
}

extension BodyStream: Equatable {
    public static func == (left: BodyStream, right: BodyStream) -> Bool { left === right }
}
