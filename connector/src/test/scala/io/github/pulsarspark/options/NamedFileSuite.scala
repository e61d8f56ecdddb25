package io.github.pulsarspark.options

import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.StandardOpenOption.{CREATE_NEW, SPARSE, WRITE}
import java.nio.file.{Files, Path}

import scala.util.Using

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError

final class NamedFileSuite extends UnitSuite {

  private def problem(file: String): String = {
    val errors = Seq[() => Any](() => NamedFile.check("x.file", file), () => NamedFile.read("x.file", file)).map(use =>
      intercept[RuntimeException with PulsarError](use())
    )
    errors.foreach(e => assertEquals((e.condition, e.parameters("option")), ("PULSAR_FILE_UNREADABLE", "x.file")))
    assertEquals(errors.map(_.getMessage).distinct.size, 1)
    errors.head.parameters("problem")
  }

  test("a file of some bytes, read as a whole") {
    val file = Files.createTempFile("named", ".txt")
    Files.writeString(file, "content")
    assertEquals(new String(NamedFile.read("x.file", file.toString)), "content")
    Files.delete(file)
  }

  test("a file without an end, one that is too large and what is no file are named") {
    val folder = Files.createTempDirectory("named")
    val large  = folder.resolve("large")
    Using.resource(FileChannel.open(large, CREATE_NEW, WRITE, SPARSE))(
      _.write(ByteBuffer.wrap(Array[Byte](1)), NamedFile.MaxBytes.toLong)
    )
    assertEquals(problem("/dev/zero"), "is no file")
    assertEquals(problem(folder.toString), "is no file")
    assertEquals(problem(folder.resolve("none").toString), "does not exist on this machine")
    assertEquals(problem("a\u0000b"), "has no valid path")
    assertEquals(problem(large.toString), "has more than 16777216 bytes")
    Seq[Path](large, folder).foreach(Files.delete)
  }
}
