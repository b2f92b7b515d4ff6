/// Parses the output of other projects' load programs.
public enum LoadReport {
    /// `fanout`'s line of `name=value` words: cost, latencies and memory of one change delivered to many subscribers.
    public struct FanOut: Hashable, Sendable {
        /// Microseconds of the server's processor time for one delivery.
        public var cost: Double
        /// Milliseconds from the publish to a subscriber's whole answer: the median and the 99th percentile.
        public var median: Double
        /// The 99th percentile.
        public var p99: Double
        /// Milliseconds until the last subscriber has the change; the median of all changes.
        public var last: Double
        /// KiB of the server's memory for each waiting subscriber.
        public var memory: Double
        /// Deliveries that did not arrive.
        public var lost: Int

        /// `nil` unless the text holds such a line.
        public init?(_ text: String) {
            let words = text.replacing("last-subscriber median=", with: "last=").split(whereSeparator: \.isWhitespace)
            var values: [Substring: Double] = [:]
            for word in words {
                let parts = word.split(separator: "=", maxSplits: 1)
                guard parts.count == 2 else { continue }
                values[parts[0]] = Double(parts[1].prefix { $0.isNumber || $0 == "." || $0 == "-" })
            }
            guard let cost = values["server-cpu"], let median = values["p50"], let p99 = values["p99"], let last = values["last"],
                let memory = values["idle-rss"], let lost = values["lost"]
            else { return nil }
            self.cost = cost
            self.median = median
            self.p99 = p99
            self.last = last
            self.memory = memory
            self.lost = Int(lost)
        }
    }

    /// Requests a second by wrk's report; `nil` if there is none, or if it counted errors or unsuccessful answers.
    public static func wrk(_ text: String) -> Double? {
        guard !text.contains("Non-2xx"), !text.contains("Socket errors") else { return nil }
        return number(after: "Requests/sec:", in: text)
    }

    /// Requests a second by h2load's report; `nil` if there is none, or if a request failed.
    public static func h2load(_ text: String) -> Double? {
        guard let line = line(with: "requests: ", in: text), line.contains(" 0 failed, 0 errored, 0 timeout"),
            let finished = self.line(with: "finished in ", in: text)
        else { return nil }
        let words = finished.split(separator: " ")
        return words.firstIndex(of: "req/s,").flatMap { $0 > 0 ? Double(words[$0 - 1]) : nil }
    }

    /// Requests a second by `redis-benchmark -q`; `nil` if there is none. It redraws its line with carriage returns.
    public static func redis(_ text: String) -> Double? {
        let line = text.split { $0.isNewline }.last { $0.contains("requests per second") }
        guard let words = line?.split(separator: " "), let index = words.firstIndex(of: "requests"), index > 0 else { return nil }
        return Double(words[index - 1])
    }

    private static func line(with word: String, in text: String) -> Substring? { text.split { $0.isNewline }.first { $0.contains(word) } }

    private static func number(after word: String, in text: String) -> Double? {
        guard let range = text.firstRange(of: word) else { return nil }
        return Double(text[range.upperBound...].drop { $0 == " " }.prefix { $0.isNumber || $0 == "." })
    }
}
