import FreshetServer
import FreshetWire
import Testing

/// Runs the same random operations on two stores, and compares all answers.
@Suite struct StoreDifferentialTests {
    @Test(arguments: [1, 2, 3, 4] as [UInt64], [StoreKind.sqlite, .forgetfulSQLite] + StoreKind.shared)
    func bothStoresAnswerAlike(_ seed: UInt64, _ kind: StoreKind) throws {
        // Given
        let memory = try StoreFixture(.memory, seed: seed)
        let other = try StoreFixture(kind, seed: seed)
        var (memoryEpochs, otherEpochs) = (EpochNames(), EpochNames())
        var script = StoreScript(seed: seed)
        for step in 1...150 {
            // When
            let group = try script.group()
            let time = StoreScript.time(Int64(step * 10))
            let (first, second) = try (memory.run(group, at: time), other.run(group, at: time))
            // Then
            try #require(memoryEpochs.renamed(first) == otherEpochs.renamed(second), "step \(step) of seed \(seed)")
            let probe = try script.probe()
            let (seen, also) = try (memory.look(probe), other.look(probe))
            try #require(memoryEpochs.renamed(seen) == otherEpochs.renamed(also), "after step \(step) of seed \(seed): \(probe)")
        }
    }
}

/// Numbers epochs in the order in which they are first seen: not all stores derive the same ones, but equal ones have to stay equal.
struct EpochNames {
    private var names: [Substring: Int] = [:]

    mutating func renamed(_ answers: [String]) -> [String] {
        answers.map { answer in
            answer.replacing(/\b[0-9a-v]{13}\b/) { match in
                let name = names[match.output, default: names.count]
                names[match.output] = name
                return "epoch\(name)"
            }
        }
    }
}
