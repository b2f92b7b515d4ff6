package import HTTPTypes
import Synchronization

/// The origins whose web pages may read the server's answers (Fetch, "CORS protocol"). The list can be replaced while the
/// server runs.
///
/// A request remembers its origin by a number, so that an answer that many requests share goes out to each with its own
/// fields. Credentials of browsers, such as cookies, are never allowed. Safe to use from any thread.
package final class CrossOriginList: Sendable {
    /// The most origins of a list.
    package static let maximumCount = 256
    /// How long a browser remembers the answer to a preflight request, in seconds. Chromium takes no longer time.
    private static let preflightSeconds = 7_200

    private struct Entry {
        var origin: [UInt8]
        /// The field lines of its answers.
        var lines: [UInt8]
        var isListed: Bool
    }

    /// The number of an origin is its index and 1; 0 is none.
    private let entries = Mutex<[Entry]>([])
    private let exposed: String
    private let accepted: String

    /// - Parameters:
    ///   - origins: as browsers send them, for example `https://app.example`; at most ``maximumCount``.
    ///   - exposed: the fields of answers that pages may read, besides those that Fetch allows always.
    ///   - accepted: the fields that requests of pages may have, besides those that Fetch allows always.
    package init(_ origins: [String] = [], exposed: [HTTPField.Name], accepted: [HTTPField.Name]) {
        self.exposed = exposed.map(\.rawName).joined(separator: ", ")
        self.accepted = accepted.map(\.rawName).joined(separator: ", ")
        set(origins)
    }

    /// Replaces the list. A response in progress to a page that is listed no longer goes out without the fields, or with
    /// those of another origin, which the page's browser refuses.
    package func set(_ origins: [String]) {
        let origins = origins.prefix(Self.maximumCount).map { Array($0.lowercased().utf8) }
        entries.withLock { entries in
            for index in entries.indices { entries[index].isListed = origins.contains(entries[index].origin) }
            for origin in origins where !entries.contains(where: { $0.isListed && $0.origin == origin }) {
                let entry = Entry(origin: origin, lines: lines(for: origin), isListed: true)
                if let free = entries.firstIndex(where: { !$0.isListed }) { entries[free] = entry } else { entries.append(entry) }
            }
        }
    }

    private func lines(for origin: [UInt8]) -> [UInt8] {
        let fields: ResponseFields = [
            .accessControlAllowOrigin: String(decoding: origin, as: UTF8.self), .accessControlExposeHeaders: exposed, .vary: "Origin",
        ]
        return fields.lines
    }

    /// The number of a request's origin; 0 if it has none, several, or one that is not listed. O(origins).
    func number(of head: RequestHead) -> UInt16 {
        guard head.hasOrigin else { return 0 }
        var (lines, number) = (0, 0)
        head.forEachValue("origin") { bytes, range in
            lines += 1
            number = entries.withLock { entries in
                (entries.firstIndex { $0.isListed && bytes.equals(range, $0.origin) } ?? -1) + 1
            }
            return true
        }
        return lines == 1 ? UInt16(number) : 0
    }

    /// Appends the field lines with which the page of an origin may read an answer.
    func append(_ number: UInt16, to head: inout [UInt8]) {
        entries.withLock { entries in
            let index = Int(number) - 1
            if entries.indices.contains(index), entries[index].isListed { head.append(contentsOf: entries[index].lines) }
        }
    }

    /// Appends the fields that answer a preflight request.
    ///
    /// - Parameter methods: those of the path, as `Allow` lists them.
    func appendPreflight(_ methods: String, to fields: inout ResponseFields) {
        fields.append(.accessControlAllowMethods, methods)
        fields.append(.accessControlAllowHeaders, accepted)
        fields.append(.accessControlMaxAge, String(Self.preflightSeconds))
    }
}
