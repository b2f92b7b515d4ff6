import FreshetTestSupport
import FreshetWire
import Testing

@testable import FreshetClient

@Suite struct OutboxRowsTests {
    private static func numbers(_ rows: some Sequence<OutboxRow>) -> [Int64] { rows.map(\.number) }

    private static func rows(_ numbers: some Sequence<Int64>) -> OutboxRows { OutboxRows(numbers.map { PartSupport.row($0, "c/1") }) }

    @Test("rows keep the order in which they were given, and are found by number and receipt")
    func order() {
        let rows = Self.rows(1...200)
        #expect(Self.numbers(rows) == Array(1...200))
        #expect(Self.numbers(rows.reversed()) == Array((1...200).reversed()))
        for number in 1...200 as ClosedRange<Int64> { #expect(rows.row(number: number, writeID: LocalWriteID(number))?.number == number) }
        #expect(rows.row(number: 5, writeID: LocalWriteID(6)) == nil)
        #expect(rows.row(number: 201, writeID: LocalWriteID(201)) == nil)
        #expect(OutboxRows().row(number: 1, writeID: LocalWriteID(1)) == nil)
    }

    @Test("an added row, a changed one and those that leave at the front differ from 10,000 others in few rows", arguments: [1, 2, 3])
    func fewDiffer(change: Int) {
        // Given
        let old = Self.rows(1...10_000)
        var new = old
        // When
        switch change {
        case 1: new.append(PartSupport.row(10_001, "c/1"))
        case 2:
            let place = new.index(number: 5_000, writeID: LocalWriteID(5_000)) ?? new.startIndex
            new[place].state = .applied(Scene.position(7))
        default: new.removeAll { $0.number <= 40 }
        }
        // Then
        let changes = new.changes(since: old)
        #expect(changes.before.count <= 64 && changes.after.count <= 64)
        let unchanged = Set(old).intersection(new)
        #expect(Set(changes.before).subtracting(changes.after) == Set(old).subtracting(unchanged))
        #expect(Set(changes.after).subtracting(changes.before) == Set(new).subtracting(unchanged))
    }

    /// A write that another device's number kept from its verdict, then what a closure made of an earlier write, rejected again in the same
    /// answer, then a write over it: a change of name gives the first a new number, and takes the old one from the second.
    @Test("a write that follows one that is to be merged is found where a change of name has put another between them")
    func followerBehindOthers() throws {
        // Given
        let rows = [
            PartSupport.row(5, "c/1"), PartSupport.row(6, "c/1", .put(Scene.json("2")), .merge(MergeName("m")), state: .merging(nil)),
            PartSupport.row(7, "c/1", .put(Scene.json("3")), .rejectIfChanged, finding: .after(LocalWriteID(6)), state: .held),
        ]
        var pending = PendingKey(key: Scene.key("c/1"), base: PartSupport.entry("c/1", 1), rows: rows)
        pending.rows[pending.rows.startIndex].isDisplaced = true
        // When
        pending.rename([LocalWriteID(5): 1])
        #expect(pending.rows.map(\.writeID) == [LocalWriteID(6), LocalWriteID(5), LocalWriteID(7)])
        pending.setPrecondition(.revision(Scene.revision(9)), ofThoseAfter: LocalWriteID(6))
        // Then
        #expect(pending.rows.map(\.precondition) == [.none, .none, .revision(Scene.revision(9))])
        #expect(pending.rows.counts.following == 0)
    }

    @Test("a list does not change with its copy")
    func copies() {
        let old = Self.rows(1...100)
        var new = old
        new.remove(at: new.startIndex)
        new[new.startIndex].state = .held
        new.append(PartSupport.row(101, "c/1"))
        #expect(Self.numbers(old) == Array(1...100) && old.counts.held == 0)
        #expect(old == Self.rows(1...100) && old.hashValue == Self.rows(1...100).hashValue)
    }

    @Test("does the same as an array under random operations", arguments: 1...20)
    func model(seed: UInt64) {
        // Given a list and an array with the same rows
        var random = SeededGenerator(seed: seed)
        var array = (1...Int64.random(in: 1...300, using: &random)).map { PartSupport.row($0 * 10, "c/1") }
        var list = OutboxRows(array)
        let states: [OutboxRow.State] = [
            .pending, .held, .merging(nil), .applied(Scene.position(3)), .settled(Scene.position(3)),
        ]
        for _ in 0..<200 {
            let before = (list: list, array: array)
            let offset = array.isEmpty ? 0 : Int.random(in: 0..<array.count, using: &random)
            let place = list.index(list.startIndex, offsetBy: offset)
            // When the same is done to both
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                let row = PartSupport.row((array.last?.number ?? 0) + 10, "c/1")
                array.append(row)
                list.append(row)
            case 1 where !array.isEmpty:
                let row = PartSupport.row(array[offset].number - 1, "c/1")
                guard offset == 0 || array[offset - 1].number < row.number else { continue }
                array.insert(row, at: offset)
                list.insert(row, at: place)
            case 2 where !array.isEmpty: #expect(list.remove(at: place) == array.remove(at: offset))
            case 3 where !array.isEmpty:
                let state = states[Int.random(in: 0..<states.count, using: &random)]
                array[offset].state = state
                list[place].state = state
                array[offset].isDisplaced.toggle()
                list[place].isDisplaced.toggle()
            case 4:
                let step = Int64.random(in: 20...60, using: &random)
                let removed = array.filter { $0.number % step == 0 }.map(\.writeID)
                array.removeAll { $0.number % step == 0 }
                #expect(list.removeAll { $0.number % step == 0 } == removed)
            default:
                array.sort { ($0.number, $0.writeID) < ($1.number, $1.writeID) }
                list.sort()
            }
            // Then they are the same, and so are the differences
            #expect(Array(list) == array && list.count == array.count && list.isEmpty == array.isEmpty)
            #expect(list.counts == OutboxRows(array).counts)
            #expect(list.counts.pending == array.count { $0.isPending } && list.counts.merging == array.count { $0.isMerging })
            let changes = list.changes(since: before.list)
            let (gone, come) = (Set(before.array).subtracting(array), Set(array).subtracting(before.array))
            #expect(gone.isSubset(of: changes.before) && come.isSubset(of: changes.after))
            #expect(Set(changes.before).subtracting(gone) == Set(changes.after).subtracting(come))
        }
    }
}
