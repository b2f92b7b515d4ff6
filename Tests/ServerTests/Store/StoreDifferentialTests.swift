import FreshetServer
import FreshetWire
import Testing

/// Runs the same random operations on both stores, and compares all answers.
@Suite struct StoreDifferentialTests {
    @Test(arguments: [1, 2, 3, 4] as [UInt64], [StoreKind.sqlite, .forgetfulSQLite])
    func bothStoresAnswerAlike(_ seed: UInt64, _ kind: StoreKind) throws {
        // Given
        let memory = try StoreFixture(.memory, seed: seed)
        let sqlite = try StoreFixture(kind, seed: seed)
        var script = StoreScript(seed: seed)
        for step in 1...150 {
            // When
            let group = try script.group()
            let time = StoreScript.time(Int64(step * 10))
            let (first, second) = try (memory.run(group, at: time), sqlite.run(group, at: time))
            // Then
            try #require(first == second, "step \(step) of seed \(seed)")
            let probe = try script.probe()
            try #require(try memory.look(probe) == sqlite.look(probe), "after step \(step) of seed \(seed): \(probe)")
        }
    }
}
