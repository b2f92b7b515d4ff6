import Foundation
import Testing

/// The project's own files.
enum Project {
    static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static func text(of file: String) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
    }

    /// The paths of all files in folders of the project, without hidden ones such as builds.
    static func files(in folders: [String]) throws -> [String] {
        try folders.flatMap { name in
            let root = folder.appendingPathComponent(name)
            let found = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil, options: .skipsHiddenFiles))
            return found.compactMap { ($0 as? URL).map { String($0.path.dropFirst(folder.path.count + 1)) } }
        }
    }
}
