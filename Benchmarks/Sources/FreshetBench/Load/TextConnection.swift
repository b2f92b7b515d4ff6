import Glibc

/// A connection of a line-based text protocol: a read up to a word consumes the text before it.
struct TextConnection {
    private let connection: Connection
    private var buffer: [UInt8] = []

    init(port: UInt16) throws { connection = try Connection(port: port) }

    func close() { Glibc.close(connection.descriptor) }

    mutating func send(_ text: String) throws {
        var sender = connection
        try sender.send(Array(text.utf8))
    }

    /// Waits for the word, ten seconds at most between two packets.
    mutating func read(until word: String) throws {
        let wanted = Array(word.utf8)
        var scratch = [UInt8](repeating: 0, count: 4_096)
        while true {
            if let found = buffer.firstRange(of: wanted) {
                buffer.removeSubrange(..<found.upperBound)
                return
            }
            var ready = pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, 10_000) > 0 else { throw LoadError.silent }
            let count = scratch.withUnsafeMutableBytes { Glibc.read(connection.descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw LoadError.closed }
            buffer += scratch[..<count]
        }
    }
}
