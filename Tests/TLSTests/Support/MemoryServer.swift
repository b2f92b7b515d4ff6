import FreshetSocketHTTP
import FreshetTLS

/// A server's session with its buffers, and the exchange of all bytes between it and a client.
final class MemoryServer {
    private let session: TLSSession
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ByteLayerInput.room, alignment: 16)
    private(set) var received: [UInt8] = []
    private(set) var end: ByteLayerInput.End?

    init(_ session: TLSSession) { self.session = session }

    convenience init(_ context: TLSContext) throws {
        guard let session = TLSSession(context) else { throw MemoryClient.SetupFailure() }
        self.init(session)
    }

    deinit { buffer.deallocate() }

    var isHandshaking: Bool { session.isHandshaking }
    var heldBytes: Int { session.heldBytes }

    /// Takes ciphertext in pieces of at most `step` bytes; returns the ciphertext for the client.
    func receive(_ bytes: [UInt8], step: Int = ByteLayerInput.mostBytes) -> [UInt8] {
        var output: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: step) {
            let result = bytes[start..<min(start + step, bytes.count)].withUnsafeBytes {
                session.receive($0, into: buffer, sending: &output)
            }
            received += buffer[..<result.count]
            end = end ?? result.end
        }
        return output
    }

    func send(_ bytes: [UInt8]) -> [UInt8]? {
        var output: [UInt8] = []
        return bytes.withUnsafeBytes { session.send($0, sending: &output) } ? output : nil
    }

    func close() -> [UInt8] {
        var output: [UInt8] = []
        session.close(sending: &output)
        return output
    }

    /// Exchanges bytes until neither side has any left, in pieces of at most `step` bytes.
    func connect(_ client: MemoryClient, step: Int = ByteLayerInput.mostBytes) {
        var bytes = client.receive()
        while !bytes.isEmpty { bytes = client.receive(receive(bytes, step: step)) }
        // Tickets follow the handshake.
        _ = client.receive()
    }
}
