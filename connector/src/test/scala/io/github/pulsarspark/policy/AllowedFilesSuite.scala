package io.github.pulsarspark.policy

import java.nio.file.{Files, Path}

import io.github.pulsarspark.UnitSuite

final class AllowedFilesSuite extends UnitSuite with PolicyRules {

  private val folders = FunFixture[Path](_ => Files.createTempDirectory("policy"), remove)

  private def remove(folder: Path): Unit =
    Files.walk(folder).sorted(java.util.Comparator.reverseOrder[Path]).forEach(Files.delete(_))

  private def check(policy: Policy, file: Path) = AllowedFiles.check(policy, "x.option", file, file.toString)

  folders.test("files in a folder of the list and below it, no others, and none with an empty list") { folder =>
    val keys   = Files.createDirectories(folder.resolve("keys/deep")).getParent
    val policy = shared("files" -> keys.toString)
    val file   = Files.createFile(keys.resolve("deep/key"))
    check(policy, file)
    assertEquals(refused("files")(check(policy, folder.resolve("other"))), s"the file ${folder.resolve("other")}")
    refused("files")(check(policy, Path.of(s"$keys-other/key")))
    refused("files")(check(policy, keys.resolve("../other")))
    Seq("none/../../other", "none/../../other/none/x", "deep/key/../../../other").foreach(way =>
      refused("files")(check(policy, keys.resolve(way)))
    )
    check(policy, keys.resolve("none/../deep/key"))
    refused("files")(check(shared(), file))
  }

  folders.test("links are followed, out of a folder and into it") { folder =>
    val keys    = Files.createDirectory(folder.resolve("keys"))
    val outside = Files.createDirectory(folder.resolve("outside"))
    val secret  = Files.createFile(outside.resolve("secret"))
    val policy  = shared("files" -> keys.toString)
    val link    = Files.createSymbolicLink(keys.resolve("link"), secret)
    val way     = Files.createSymbolicLink(keys.resolve("way"), outside)
    Seq(link, way.resolve("secret"), way.resolve("none"), way.resolve("../outside/secret")).foreach(file =>
      refused("files")(check(policy, file))
    )
    val into = Files.createSymbolicLink(outside.resolve("into"), keys)
    check(policy, Files.createFile(keys.resolve("key")))
    check(policy, into.resolve("key"))
    check(shared("files" -> into.toString), keys.resolve("key"))
  }

  folders.test("a file that does not exist is refused with the same words as one that does") { folder =>
    val policy = shared("files" -> folder.resolve("keys").toString)
    val there  = Files.createFile(folder.resolve("there"))
    val texts  = Seq(there, folder.resolve("where")).map(file => refused("files")(check(policy, file)))
    assertEquals(texts.map(_.replace("there", "where")).distinct.size, 1)
  }
}
