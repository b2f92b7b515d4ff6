// swift-tools-version: 6.2
import PackageDescription

// A backend outside the project, with its tests. Elsewhere, the dependency is a URL and a version.
let package = Package(
    name: "till",
    dependencies: [.package(name: "freshet", path: "../..")],
    targets: [
        .target(name: "Till", dependencies: [.product(name: "FreshetClient", package: "freshet")]),
        .testTarget(
            name: "TillTests",
            dependencies: [
                "Till", .product(name: "FreshetClient", package: "freshet"), .product(name: "FreshetTestKit", package: "freshet"),
            ]),
    ]
)
