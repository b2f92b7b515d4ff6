import Testing

@testable import FreshetCache

@Suite struct ControlGroupTests {
    private let unified = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"

    @Test func aServicesOwnDirectoryAndThoseAboveAreFound() {
        let group = ControlGroup.unified(
            groups: "0::/system.slice/shop.service\n", mounts: "22 1 0:5 / / rw - ext4 /dev/sda rw\n" + unified)
        #expect(
            group?.directories == [
                "/sys/fs/cgroup/system.slice/shop.service", "/sys/fs/cgroup/system.slice", "/sys/fs/cgroup",
            ])
    }

    @Test func inAContainerItsOwnIsTheRoot() {
        #expect(ControlGroup.unified(groups: "0::/\n", mounts: unified)?.directories == ["/sys/fs/cgroup"])
    }

    @Test func whatIsMountedMayBeAGroupFurtherDown() {
        let mounts = "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
        let inside = ControlGroup.unified(groups: "0::/docker/abc/inner\n", mounts: mounts)
        #expect(inside?.directories == ["/sys/fs/cgroup/inner", "/sys/fs/cgroup"])
        // For a group that is not visible, the mounted one is the nearest.
        for outside in ["/docker/abcd", "/../other", "/"] {
            #expect(ControlGroup.unified(groups: "0::\(outside)\n", mounts: mounts)?.directories == ["/sys/fs/cgroup"], "\(outside)")
        }
    }

    @Test func versionOneIsFoundByItsController() {
        // Given a machine with both
        let groups = "9:name=systemd:/\n4:cpu,memory:/jobs/7\n1:cpuset:/\n0::/\n"
        let mounts = """
            32 31 0:29 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
            35 31 0:32 / /sys/fs/cgroup/memory\\040one rw,relatime - cgroup cgroup rw,cpu,memory
            41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:1 master:2 - cgroup2 cgroup2 rw

            """
        // Then
        #expect(
            ControlGroup.legacyMemory(groups: groups, mounts: mounts)?.directories == [
                "/sys/fs/cgroup/memory one/jobs/7", "/sys/fs/cgroup/memory one/jobs", "/sys/fs/cgroup/memory one",
            ])
        #expect(ControlGroup.unified(groups: groups, mounts: mounts)?.directories == ["/sys/fs/cgroup/unified"])
        #expect(ControlGroup.legacyMemory(groups: "0::/\n", mounts: mounts) == nil)
    }

    @Test(arguments: ["", "\n", "0", "0::", "x:y", "30 23 0:26 / /sys - cgroup2 a rw", "a b c d e f g h i j k", "- - - - - - - - - -"])
    func otherTextsAreNoGroup(text: String) {
        #expect(ControlGroup.unified(groups: "0::/\n", mounts: text) == nil)
        #expect(ControlGroup.unified(groups: text, mounts: text) == nil)
        #expect(ControlGroup.legacyMemory(groups: text, mounts: text) == nil)
    }
}
