import Testing

@testable import FreshetSQLite

@Suite struct MemoryCountTests {
    @Test func itIsTooLateOnceSQLiteIsInUseAndNothingBreaks() throws {
        // Given
        let connection = try Connection(path: ":memory:")
        // When
        let isEnded = MemoryCount.end()
        // Then
        #expect(!isEnded)
        #expect(try connection.withStatement("SELECT 1 + 1") { try $0.step() ? $0.int64(0) : 0 } == 2)
    }
}
