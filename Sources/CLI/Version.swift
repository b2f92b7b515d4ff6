/// The version of the program and of the modules in this package, stated here alone: `freshet --version` prints it, and
/// `docker/build` names the image by it. A tag is `v` and this version; the changelog's newest entry must have it too.
enum Version {
    static let current = "0.1.0"
}
