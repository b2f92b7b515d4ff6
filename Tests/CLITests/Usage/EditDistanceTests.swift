import Testing

@testable import freshet

struct EditDistanceTests {
    @Test(arguments: [
        ("", "", 0), ("", "get", 3), ("get", "", 3), ("get", "get", 0), ("gett", "get", 1), ("gt", "get", 1), ("gat", "get", 1),
        ("lsit", "list", 1), ("kitten", "sitting", 3), ("ca", "abc", 3), ("über", "uber", 1),
    ])
    func characterEditsAreCounted(left: String, right: String, distance: Int) {
        #expect(EditDistance.between(left, right) == distance)
        #expect(EditDistance.between(right, left) == distance)
    }
}
