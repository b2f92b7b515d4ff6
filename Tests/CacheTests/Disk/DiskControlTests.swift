import FreshetTestSupport
import Glibc
import Testing

@testable import FreshetCache

@Suite struct DiskControlTests {
    let folder = TemporaryDirectory()

    @Test func aDirectoryThatAnotherProcessIsMakingACacheIsOurs() {
        // Given a directory in which someone has created the control file and not yet written it
        close(open(folder.file(DiskControl.name), O_CREAT | O_WRONLY, 0o600))
        // Then it is a cache soon
        #expect(DiskControl.isOurs(folder.path))
    }

    @Test func aDirectoryWithSomethingElseIsNot() {
        // Given
        close(open(folder.file("letters.txt"), O_CREAT | O_WRONLY, 0o600))
        // Then
        #expect(!DiskControl.isOurs(folder.path))
        // And an empty control file beside it changes nothing
        close(open(folder.file(DiskControl.name), O_CREAT | O_WRONLY, 0o600))
        #expect(!DiskControl.isOurs(folder.path))
    }

    @Test func aDirectoryOfWhichOnlyTheDatabaseIsLeftIsOurs() throws {
        // Given
        try #require(mkdir(folder.file("g0000000a"), 0o700) == 0)
        close(open(folder.file("g0000000a/\(DiskSchema.file)"), O_CREAT | O_WRONLY, 0o600))
        // Then
        #expect(DiskControl.isOurs(folder.path))
        // And one whose folder has something else is not, nor one with a file of such a name
        try #require(mkdir(folder.file("g0000000b"), 0o700) == 0)
        close(open(folder.file("g0000000b/letters.txt"), O_CREAT | O_WRONLY, 0o600))
        #expect(!DiskControl.isOurs(folder.path))
        folder.remove("g0000000b")
        close(open(folder.file("g0000000c"), O_CREAT | O_WRONLY, 0o600))
        #expect(!DiskControl.isOurs(folder.path))
    }

    @Test("a file that another process has cut has no generation, and is whole again with the next one", arguments: [0, 16, 20])
    func cut(size: Int) throws {
        // Given
        let control = try DiskControl.open(directory: folder.path).control
        let generation = try #require(control.generation)
        // When
        try #require(truncate(folder.file(DiskControl.name), size) == 0)
        // Then
        #expect(control.generation == nil)
        // And when a generation is set
        try control.locked { try control.setGeneration(generation + 1) }
        // Then all instances have it
        let (other, isStale) = try DiskControl.open(directory: folder.path)
        #expect(control.generation == generation + 1 && other.generation == generation + 1 && !isStale)
    }
}
