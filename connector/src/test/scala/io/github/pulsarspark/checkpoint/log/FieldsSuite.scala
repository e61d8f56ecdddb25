package io.github.pulsarspark.checkpoint.log

import java.util.UUID

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.position.Position

/** Fields of records, as [[FieldWriter]] writes and [[FieldReader]] reads them. */
class FieldsSuite extends UnitSuite {

  private def written(write: FieldWriter => Unit): Array[Byte] = {
    val to = new FieldWriter
    write(to)
    to.result
  }

  private def read[A](bytes: Array[Byte])(each: FieldReader => A): A = each(new FieldReader(bytes))

  private val apart = Apart(7, 8, Seq(Position(1, 2), Position(3, 4)), 9)

  test("fields come back in their order") {
    val id    = UUID.randomUUID
    val bytes = written { to =>
      to.byte(-3)
      to.int(Int.MinValue)
      to.long(Long.MaxValue)
      to.flag(true)
      to.text("kä")
      to.uuid(id)
      to.path(Seq("a", "", "b"))
      to.place(Position(5, -1))
      to.file(new Content(Array[Byte](1, 2)))
      to.file(apart)
      to.several(Seq(1L, 2L))(to.long)
    }
    read(bytes) { from =>
      assertEquals((from.byte(), from.int(), from.long(), from.flag()), (-3, Int.MinValue, Long.MaxValue, true))
      assertEquals((from.text(), from.uuid(), from.path(), from.place()),
        ("kä", id, Seq("a", "", "b"), Position(5, -1)))
      from.file() match {
        case inLog: Content => assertEquals(inLog.bytes.toSeq, Seq[Byte](1, 2))
        case other          => fail(other.toString)
      }
      assertEquals[FileContent, FileContent](from.file(), apart)
      assertEquals(from.several(from.long()), Vector(1L, 2L))
    }
  }

  private val wrong: Seq[(String, Array[Byte], FieldReader => Any)] = Seq(
    ("a text of a negative size", written(_.int(-1)), _.text()),
    ("a text that is longer than what is left", written { to => to.int(3); to.byte(1); to.byte(1) }, _.text()),
    ("a list that is longer than what is left", written(_.int(Int.MaxValue)), from => from.several(from.long())),
    ("a path of too many names", written(_.path(Seq.fill(Tree.MaxLevels + 1)("n"))), _.path()),
    ("a file of an unknown kind", written(_.byte(2)), _.file()),
    ("a content apart of a negative size", written(_.file(apart.copy(size = -1))), _.file()),
    ("a content apart without a place", written(_.file(apart.copy(places = Nil))), _.file())
  )

  for ((what, bytes, each) <- wrong) test(s"$what is refused") {
    intercept[IllegalArgumentException](read(bytes)(each))
  }

  test("a path of as many names as a tree has levels is read") {
    val longest = Seq.fill(Tree.MaxLevels)("n")
    assertEquals(read(written(_.path(longest)))(_.path()), longest)
  }
}
