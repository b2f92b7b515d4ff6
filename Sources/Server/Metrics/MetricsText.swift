import FreshetSocketHTTP
import Glibc

/// The Prometheus text format, version 0.0.4.
struct MetricsText {
    private(set) var text = ""

    mutating func counter(_ name: String, _ help: String, _ value: Int) { metric(name, "counter", help, "\(value)") }

    mutating func gauge(_ name: String, _ help: String, _ value: Int) { metric(name, "gauge", help, "\(value)") }

    /// Adds one line for each set of labels whose value is above zero.
    mutating func counters(_ name: String, _ help: String, _ values: [(labels: String, value: Int)]) {
        head(name, "counter", help)
        for (labels, value) in values where value > 0 { text += "\(name){\(labels)} \(value)\n" }
    }

    mutating func histogram(_ name: String, _ help: String, _ histogram: Histogram) {
        head(name, "histogram", help)
        let (counts, sum) = histogram.snapshot
        for (bound, count) in zip(histogram.bounds, counts) { text += "\(name)_bucket{le=\"\(bound)\"} \(count)\n" }
        text += "\(name)_bucket{le=\"+Inf\"} \(counts.last ?? 0)\n\(name)_sum \(sum)\n\(name)_count \(counts.last ?? 0)\n"
    }

    private mutating func metric(_ name: String, _ kind: String, _ help: String, _ value: String) {
        head(name, kind, help)
        text += "\(name) \(value)\n"
    }

    private mutating func head(_ name: String, _ kind: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
    }

    /// The process's resident memory in bytes; `nil` if the system does not report it.
    static func residentBytes() -> Int? {
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 128)
        let count = buffer.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
        guard count > 0 else { return nil }
        let numbers = String(decoding: buffer.prefix(count), as: UTF8.self).split(separator: " ")
        return numbers.count > 1 ? Int(numbers[1]).map { $0 * sysconf(Int32(_SC_PAGESIZE)) } : nil
    }
}
