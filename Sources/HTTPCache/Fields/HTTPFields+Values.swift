package import FreshetPlatform
package import HTTPTypes

extension HTTPFields {
    /// The date of a field that may have only one. `invalid` is a field that is present without a valid date.
    package enum DateValue: Hashable, Sendable {
        case absent
        case invalid
        case date(HTTPDate)

        package var date: HTTPDate? {
            guard case .date(let date) = self else { return nil }
            return date
        }
    }

    /// The bytes of a field, several lines joined by a comma; `nil` if it is absent. `subscript` alters bytes that are
    /// not UTF-8.
    package func bytes(_ name: HTTPField.Name) -> [UInt8]? {
        let lines = self[fields: name].map { $0.withUnsafeBytesOfValue { Array($0) } }
        return lines.isEmpty ? nil : Array(lines.joined(separator: ", ".utf8))
    }

    /// - Parameter now: seconds since 1970.
    package func date(_ name: HTTPField.Name, now: Int64) -> DateValue {
        let lines = self[values: name]
        guard let first = lines.first else { return .absent }
        guard let date = HTTPDate(first, now: now), lines.allSatisfy({ $0 == first }) else { return .invalid }
        return .date(date)
    }

    /// The seconds of the `Age` field: the first value if there are several, and 0 if it is absent or not a number (RFC
    /// 9111 §5.1).
    package var ageSeconds: Int64 {
        guard let first = self[values: .age].first?.split(separator: ",", omittingEmptySubsequences: false).first else { return 0 }
        return CacheControl.deltaSeconds(first.trimmingSpaces) ?? 0
    }

    /// The members of a field that is a list of names, in lower case.
    package func names(in field: HTTPField.Name) -> [String] {
        self[values: field].flatMap { $0.split(separator: ",") }.map { $0.trimmingSpaces.lowercased() }.filter { !$0.isEmpty }
    }

    /// The names of the request fields that `Vary` lists.
    ///
    /// - Returns: the names in order, without duplicates, or `nil` for `*`, which no request matches. More than 64 names
    ///   count as `*`.
    package var varyNames: [String]? {
        var result: [String] = []
        for name in names(in: .vary) {
            // A member that is not a field name cannot be compared, so no request matches.
            guard name != "*", name.utf8.allSatisfy(\.isTokenCharacter) else { return nil }
            if result.contains(name) { continue }
            guard result.count < 64 else { return nil }
            result.append(name)
        }
        return result
    }
}

extension Substring {
    /// The substring without surrounding white space.
    var trimmingSpaces: Substring {
        let start = drop { $0 == " " || $0 == "\t" }
        guard let end = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return start.prefix(0) }
        return start[...end]
    }
}
