import ArgumentParser
import FreshetSimulator

/// `7` or `1...100`.
struct SeedRange: ExpressibleByArgument, CustomStringConvertible {
    let range: ClosedRange<UInt64>

    init(_ range: ClosedRange<UInt64>) { self.range = range }

    init?(argument: String) {
        guard let dots = argument.firstRange(of: "...") else {
            guard let seed = UInt64(argument) else { return nil }
            self.init(seed...seed)
            return
        }
        guard let first = UInt64(argument[..<dots.lowerBound]), let last = UInt64(argument[dots.upperBound...]), first <= last,
            last - first < 100_000_000
        else { return nil }
        self.init(first...last)
    }

    var description: String { range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound)...\(range.upperBound)" }
    var defaultValueDescription: String { description }
}

/// `all`, `none`, or kinds with commas between them.
struct FaultList: ExpressibleByArgument, CustomStringConvertible, Hashable {
    let kinds: Set<FaultKind>

    static let all = FaultList(kinds: Set(FaultKind.allCases))

    init(kinds: Set<FaultKind>) { self.kinds = kinds }

    init?(argument: String) {
        switch argument {
        case "all": self = .all
        case "none": self.init(kinds: [])
        default:
            var kinds: Set<FaultKind> = []
            for name in argument.split(separator: ",", omittingEmptySubsequences: false) {
                guard let kind = FaultKind(rawValue: String(name)) else { return nil }
                kinds.insert(kind)
            }
            self.init(kinds: kinds)
        }
    }

    var description: String {
        if self == .all { return "all" }
        return kinds.isEmpty ? "none" : FaultKind.allCases.filter(kinds.contains).map(\.rawValue).joined(separator: ",")
    }

    var defaultValueDescription: String { description }
    static var allValueStrings: [String] { ["all", "none"] + FaultKind.allCases.map(\.rawValue) }
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}
