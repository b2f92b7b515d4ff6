import FreshetPlatform
import FreshetTestSupport
import Testing

struct GenerationTableTests {
    @Test("a table of generations has what a dictionary of the last entries has", arguments: 0..<100 as Range<UInt64>)
    func generations(seed: UInt64) {
        // Given
        var random = SeededGenerator(seed: seed)
        let limit = Int.random(in: 1...20, using: &random)
        var table = GenerationTable<Int, Int>(limit: limit)
        var model: [Int: Int] = [:]
        var order: [Int] = []
        for step in 0..<500 {
            let key = Int.random(in: 0..<40, using: &random)
            // When
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                table.remove(key)
                model[key] = nil
            case 1...4:
                table.set(step, for: key)
                model[key] = step
                order.append(key)
            default:
                let value = table.value(for: key)
                // Then a value is never an old one, and what was used lately is there
                #expect(value == nil || value == model[key])
                if Set(order.suffix(limit)).count <= limit, order.suffix(limit).contains(key) { #expect(value == model[key]) }
                if value != nil { order.append(key) }
            }
            #expect(table.count <= 2 * limit)
        }
    }
}
