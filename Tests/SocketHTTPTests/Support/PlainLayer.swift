@testable import FreshetSocketHTTP

/// A layer that changes no byte, so that a plain client speaks with a server that takes its connections for encrypted.
final class PlainLayer: ByteLayer {
    let isHandshaking = false
    let heldBytes = 0
    let clientCertificate: ClientCertificate? = nil
    let isOutdated = false
    private let onSend: @Sendable () -> Void

    /// - Parameter onSend: called whenever the layer gets bytes to send, on the loop.
    init(onSend: @escaping @Sendable () -> Void) { self.onSend = onSend }

    func receive(
        _ input: UnsafeRawBufferPointer, into plaintext: UnsafeMutableRawBufferPointer, sending output: inout [UInt8]
    ) -> ByteLayerInput {
        plaintext.copyMemory(from: input)
        return ByteLayerInput(count: input.count)
    }

    func send(_ bytes: UnsafeRawBufferPointer, sending output: inout [UInt8]) -> Bool {
        onSend()
        output.append(contentsOf: bytes)
        return true
    }

    func close(sending output: inout [UInt8]) {}
}

/// Makes a ``PlainLayer`` for each connection.
final class PlainLayers: ByteLayerSource {
    private let onSend: @Sendable () -> Void

    init(onSend: @escaping @Sendable () -> Void = {}) { self.onSend = onSend }

    func makeLayer() -> (any ByteLayer)? { PlainLayer(onSend: onSend) }
}
