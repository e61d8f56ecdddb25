package io.github.pulsarspark.schema.avro

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.schema.convert.MalformedValue

/** Avro's binary encoding, byte by byte: its limits, and what damaged bytes claim. */
class AvroInputSuite extends UnitSuite {

  /** Reads bytes in the middle of a larger array. */
  private def over(bytes: Int*): AvroInput =
    new AvroInput().reset((Seq(9, 9) ++ bytes ++ Seq(1, 1)).map(_.toByte).toArray, 2, bytes.size)

  private def malformed(problem: String)(read: => Any): Unit =
    assertEquals(intercept[MalformedValue](read).getMessage, problem)

  private def tooShort(needed: Long, left: Int)(read: => Any): Unit =
    malformed(s"$needed bytes are needed where the value has $left left")(read)

  private val endless = Seq.fill(10)(0x80) :+ 1

  test("numbers alternate in sign, and have up to ten bytes") {
    assertEquals(Seq(Seq(0), Seq(1), Seq(2), Seq(0x80, 1)).map(over(_: _*).long()), Seq(0L, -1L, 1L, 64L))
    assertEquals(over(Seq.fill(9)(0xff) :+ 1: _*).long(), Long.MinValue)
    malformed("a number is longer than 10 bytes")(over(endless: _*).long())
    tooShort(1, 0)(over(0x80).long())
  }

  test("a skipped number ends where it would have been read to") {
    val in = over(0x80, 0x80, 1, 2)
    in.skipNumber()
    assertEquals((in.remaining, in.long()), (1, 1L))
    malformed("a number is longer than 10 bytes")(over(endless: _*).skipNumber())
    tooShort(1, 0)(over(0x80, 0x80).skipNumber())
  }

  test("an int has 32 bits") {
    assertEquals(over(0xff, 0xff, 0xff, 0xff, 0x0f).int(), Int.MinValue)
    malformed("2147483648 is not an int")(over(0x80, 0x80, 0x80, 0x80, 0x10).int())
  }

  test("a boolean is one of two bytes") {
    assertEquals((over(0).boolean(), over(1).boolean()), (false, true))
    malformed("2 is not a boolean")(over(2).boolean())
  }

  test("floating point numbers are little-endian, also where a half of their bits has a sign") {
    assertEquals(over(0, 0, 0x80, 0x3f).float(), 1.0f)
    assertEquals(over(0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f).double(), 0.1)
    tooShort(8, 7)(over(0, 0, 0, 0, 0, 0, 0).double())
  }

  test("a text ends within the value, whatever length it claims") {
    assertEquals(over(4, 'h', 'i').string().toString, "hi")
    tooShort(3, 2)(over(6, 'h', 'i').string())
    tooShort(-1, 2)(over(1, 'h', 'i').binary())
  }

  test("bytes are a copy, which later values do not overwrite") {
    val bytes = Array[Byte](4, 7, 8)
    val read  = new AvroInput().reset(bytes, 0, 3).binary()
    bytes(1) = 0
    assertEquals(read.toSeq, Seq[Byte](7, 8))
  }

  test("an unscaled number keeps its sign, and has none without bytes") {
    assertEquals(over(0xff, 0).unscaled(2), -256L)
    assertEquals(over(0, 0x80).unscaled(2), 128L)
    assertEquals(over().unscaled(0), 0L)
  }

  test("an index is one of those that there are") {
    assertEquals(over(2).index(2), 1)
    malformed("index 2 is outside of 0 to 1")(over(4).index(2))
    malformed("index -1 is outside of 0 to 1")(over(1).index(2))
  }

  test("a block may come with its length in bytes, which a reader of its items does not need") {
    val in = over(5, 0x14, 7)
    assertEquals((in.blockCount(), in.remaining), (3, 1))
  }

  test("items without bytes are believed up to a limit, in all blocks of a value together") {
    val most = Seq(0x80, 0x80, 8) // 65,536
    val in   = over(most :+ 2: _*)
    assertEquals(in.blockCount(), 65536)
    malformed("a block of 1 items is longer than the value")(in.blockCount())
    malformed("a block of 65537 items is longer than the value")(over(0x82, 0x80, 8).blockCount())
    malformed(s"a block of ${Long.MinValue} items is longer than the value")(
      over(Seq.fill(9)(0xff) ++ Seq(1, 0): _*).blockCount()
    )
    assertEquals(in.reset(Array[Byte](2), 0, 1).blockCount(), 1, "the next value has a limit of its own")
  }

  test("blocks of known length are skipped at once, and the next one is counted") {
    val in = over(3, 4, 7, 7, 2, 9)
    assertEquals((in.skippedBlockCount(), in.remaining), (1, 1))
    tooShort(-2, 0)(over(1, 3).skippedBlockCount())
    tooShort(5, 1)(over(1, 10, 7).skippedBlockCount())
  }

  test("values may be 500 levels deep, each counted until it ends") {
    val in = over()
    (1 to 500).foreach(_ => in.enter())
    malformed("the value is nested more than 500 levels deep")(in.enter())
    in.leave()
    in.leave()
    in.enter()
    in.reset(Array.emptyByteArray, 0, 0)
    (1 to 500).foreach(_ => in.enter())
  }
}
