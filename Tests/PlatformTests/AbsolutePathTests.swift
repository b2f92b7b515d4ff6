import FreshetTestSupport
import Glibc
import Testing

@testable import FreshetPlatform

@Suite("Absolute paths") struct AbsolutePathTests {
    @Test(
        "a relative path begins at the working directory of the moment when it is given",
        arguments: [
            ("cache", "/home/me/cache"), ("./cache", "/home/me/cache"), (".//./cache/", "/home/me/cache/"),
            ("../cache", "/home/me/../cache"),
            (".", "/home/me"), ("./", "/home/me"), (".cache", "/home/me/.cache"), ("...", "/home/me/..."),
            ("./~/cache", "/home/me/~/cache"),
            (":memory:", "/home/me/:memory:"), ("e\u{301}", "/home/me/e\u{301}"),
        ])
    func relative(path: String, expected: String) throws {
        let made = try AbsolutePath(path) { () throws(SystemFailure) in "/home/me" }
        #expect(Array(made.text.utf8) == Array(expected.utf8))
    }

    @Test("an absolute path stays as it is, and needs no working directory", arguments: ["/", "/a/../b//c/", "/a/~", "/ "])
    func absolute(path: String) throws {
        let made = try AbsolutePath(path) { () throws(SystemFailure) in throw SystemFailure(code: ENOENT) }
        #expect(made.text == path && "\(made)" == path)
    }

    @Test("a path relative to the root has one slash")
    func root() throws {
        let root = try AbsolutePath(".") { () throws(SystemFailure) in "/" }
        #expect(root.text == "/")
        #expect(try AbsolutePath("a") { () throws(SystemFailure) in "/" }.text == "/a")
    }

    @Test("a path that only a shell could expand is refused, and the error says what to write", arguments: ["~", "~/cache", "~me/cache"])
    func home(path: String) {
        let error = #expect(throws: AbsolutePath.Failure.home) { try AbsolutePath(path) }
        #expect(error?.description.contains("write the home directory out") == true)
    }

    @Test("an empty path, one with a zero byte, and a relative one without a working directory are refused")
    func unusable() {
        #expect(throws: AbsolutePath.Failure.empty) { try AbsolutePath("") }
        #expect(throws: AbsolutePath.Failure.zeroByte) { try AbsolutePath("/data\0/x") }
        let error = #expect(throws: AbsolutePath.Failure.self) {
            try AbsolutePath("a") { () throws(SystemFailure) in throw SystemFailure(code: ENOENT) }
        }
        #expect(error?.description.contains("give a path that begins with /") == true)
    }

    @Test("a working directory that was removed is an error, and not another place")
    func removed() async {
        await #expect(processExitsWith: .success) {
            var template = Array("/tmp/freshet-test-XXXXXX".utf8CString)
            let path = String(cString: mkdtemp(&template))
            #expect(chdir(path) == 0 && rmdir(path) == 0)
            #expect(throws: AbsolutePath.Failure.noWorkingDirectory(reason: SystemFailure(code: ENOENT).reason)) { try AbsolutePath("a") }
        }
    }
}
