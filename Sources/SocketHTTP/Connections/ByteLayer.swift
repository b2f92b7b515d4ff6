/// A layer of encryption between the bytes of a socket and those of HTTP, such as TLS: bytes in, bytes out, no socket.
///
/// One connection owns it, and calls it on its loop alone.
package protocol ByteLayer: AnyObject {
    /// Whether the peers have not agreed yet. Until then ``receive(_:into:sending:)`` yields no plaintext, and
    /// ``send(_:sending:)`` must not be called.
    var isHandshaking: Bool { get }

    /// The most bytes that the layer keeps of a handshake, or of a record that has arrived in part; 0 if there is none.
    var heldBytes: Int { get }

    /// That of the peer; `nil` if it has presented none. To be read after the handshake.
    var clientCertificate: ClientCertificate? { get }

    /// Whether the peer has to connect again, since the handshake would have another result now. To be read after it.
    ///
    /// The loop reads it before each request, and after it has passed a `GET` to its handler, so it takes a lock only after a change.
    var isOutdated: Bool { get }

    /// Takes all bytes that have arrived, continues the handshake, and decrypts the complete records.
    ///
    /// - Parameters:
    ///   - input: at most ``ByteLayerInput/mostBytes``.
    ///   - plaintext: the space for decrypted bytes, at least ``ByteLayerInput/room``.
    ///   - output: bytes for the peer are added to it, of the handshake and of alerts; they precede all that are made later.
    func receive(
        _ input: UnsafeRawBufferPointer, into plaintext: UnsafeMutableRawBufferPointer, sending output: inout [UInt8]
    ) -> ByteLayerInput

    /// Encrypts bytes, and adds the result to `output`; false if the layer has failed and the connection has to close.
    func send(_ bytes: UnsafeRawBufferPointer, sending output: inout [UInt8]) -> Bool

    /// Adds the notice that no bytes follow; nothing during the handshake or after a failure.
    func close(sending output: inout [UInt8])
}

/// The result of ``ByteLayer/receive(_:into:sending:)``.
package struct ByteLayerInput: Equatable {
    /// Why no more plaintext comes.
    package enum End: Equatable {
        /// The peer has ended its input in order.
        case closed
        /// The first bytes are not of this layer: the peer takes the port for a plain one.
        case plaintext
        /// The peer breaks the rules, or they cannot agree; the text says how.
        case failed(String)
    }

    /// The most bytes of one input.
    package static let mostBytes = 64 << 10
    /// The space that decrypted bytes may need: the input's, and a record that had arrived in part.
    package static let room = mostBytes + (16 << 10)

    /// Decrypted bytes.
    package var count = 0
    package var end: End?

    package init(count: Int = 0, end: End? = nil) {
        self.count = count
        self.end = end
    }
}

/// Makes the layers of a server's connections. Called on any loop, at the first bytes of each connection.
package protocol ByteLayerSource: AnyObject, Sendable {
    /// `nil` if there is no memory.
    func makeLayer() -> (any ByteLayer)?
}
