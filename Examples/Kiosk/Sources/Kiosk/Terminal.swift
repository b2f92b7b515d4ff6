import Dispatch
import Glibc

/// Standard input and output, line by line.
enum Terminal {
    /// The lines of standard input; they end with it.
    static func lines() -> AsyncStream<String> {
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        // Reading blocks, so it uses a Dispatch thread, not one of the cooperative pool.
        DispatchQueue(label: "kiosk.input").async {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        return lines
    }

    /// Writes without the buffers of `print`, so that a reader gets the line at once.
    static func say(_ text: String) {
        var left = Array((text + "\n").utf8)[...]
        while !left.isEmpty {
            let count = left.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            left = left.dropFirst(count)
        }
    }
}
