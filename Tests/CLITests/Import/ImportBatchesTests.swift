import FreshetWire
import Testing

@testable import freshet

struct ImportBatchesTests {
    private func batches(count: Int, valueSize: Int = 10, after last: Int64 = 0) throws -> [ImportBatches.Batch] {
        let filler = String(repeating: "x", count: valueSize)
        let json = "[" + (0..<count).map { #"{"code":\#($0),"text":"\#(filler)"}"# }.joined(separator: ",") + "]"
        let file = try ImportFile(Array(json.utf8), rules: ImportRules(collection: "c", idField: "code"))
        var batches = ImportBatches(file, after: last)
        var found: [ImportBatches.Batch] = []
        while let batch = try batches.next() { found.append(batch) }
        return found
    }

    @Test func allRecordsGoOnceAndInOrder() throws {
        // When an import of more than one batch is divided and nothing was written before
        let batches = try batches(count: 2_203)
        // Then the numbers run through all batches, none of which exceeds the limit
        #expect(batches.flatMap(\.writes).map(\.number) == Array(1...2_203))
        #expect(batches.flatMap(\.places).map(\.number) == Array(1...2_203))
        #expect(batches.map(\.writes.count) == [1_000, 1_000, 203])
    }

    @Test func anImportThatWasCutOffGoesOn() throws {
        #expect(try batches(count: 1_203, after: 1_200).flatMap(\.writes).map(\.number) == [1_201, 1_202, 1_203])
        #expect(try batches(count: 3, after: 3).isEmpty)
        #expect(try batches(count: 3, after: 9).isEmpty)
    }

    @Test func batchesAreBoundedInBytesToo() throws {
        // Given records of about 300 KB; When they are divided; Then no batch has more than a megabyte of them
        #expect(try batches(count: 7, valueSize: 300_000).map(\.writes.count) == [3, 3, 1])
    }

    @Test func aRecordLargerThanABatchGoesAlone() throws {
        #expect(try batches(count: 2, valueSize: 2 << 20).map(\.writes.count) == [1, 1])
    }
}
