package io.github.pulsarspark.format.entry

import io.netty.buffer.Unpooled
import org.apache.pulsar.common.api.proto.BrokerEntryMetadata
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite

class ProtobufCursorSuite extends PropertySuite {

  /** A cursor over `bytes`, which lie in the middle of a larger array. */
  private def over(bytes: Int*): ProtobufCursor = {
    val cursor = new ProtobufCursor
    cursor.over((Seq.fill(3)(1) ++ bytes ++ Seq.fill(20)(1)).map(_.toByte).toArray, 3, bytes.size)
    cursor
  }

  private def malformed(problem: String)(read: => Any): Unit =
    assertEquals(intercept[MalformedBytes](read).getMessage, s"malformed metadata: $problem")

  property("reads any number as Pulsar's own code writes it") {
    forAll { (n: Long) =>
      val written = Unpooled.directBuffer()
      new BrokerEntryMetadata().setIndex(n).writeTo(written)
      val cursor = over((0 until written.readableBytes).map(i => written.getByte(i).toInt): _*)
      assertEquals((cursor.nextTag(), cursor.long(), cursor.nextTag()), (16, n, 0))
    }
  }

  private val varints = for {
    bits   <- Gen.choose(0, 64)
    number <- Gen.long.map(n => if (bits == 0) 0L else n >>> (64 - bits))
    padded <- Gen.choose(0, 2)
    behind <- Gen.choose(0, 12)
  } yield (number, padded, behind)

  property("reads numbers of any length, also longer than they need to be, wherever the array and the range end") {
    forAll(varints) { case (number, padded, behind) =>
      val sevens = Iterator.iterate(number)(_ >>> 7).take(10).map(n => (n & 0x7f).toInt).toVector
      val digits = sevens.take(math.min(10, math.max(1, sevens.lastIndexWhere(_ != 0) + 1 + padded)))
      val bytes  = digits.init.map(_ | 0x80) :+ digits.last
      for (rest <- Seq(Seq.fill(behind)(0x81), Seq.fill(behind)(1))) {
        val cursor = new ProtobufCursor
        cursor.over((bytes ++ rest).map(_.toByte).toArray, 0, bytes.size)
        assertEquals((cursor.long(), cursor.isAtEnd), (number, true))
        cursor.over((bytes ++ rest).map(_.toByte).toArray, 0, bytes.size - 1)
        malformed("a number is cut off")(cursor.long())
      }
    }
  }

  test("a field longer than its range, an error and nothing read behind it") {
    malformed("a number is cut off")(over(0x80).long())
    malformed("a number is cut off")(over().int())
    malformed("a field of 3 bytes is longer than the 2 bytes left")(over(3, 1, 1).range())
    malformed("a field of -1 bytes is longer than the 0 bytes left")(over(0xff, 0xff, 0xff, 0xff, 0x0f).range())
    malformed("a field of 8 bytes is longer than the 7 bytes left")(over(1, 1, 1, 1, 1, 1, 1).skip(9))
    malformed("a field of 4 bytes is longer than the 3 bytes left")(over(1, 1, 1).skip(13))
  }

  test("bytes that are not protobuf, an error") {
    malformed("a number is longer than 10 bytes")(over(Seq.fill(11)(0xff): _*).long())
    malformed("a field has number 0")(over(2).nextTag())
    malformed("field 1 has the unknown wire type 3")(over().skip(11))
  }

  test("reads a nested message up to its end, then continues after it") {
    val cursor = over(10, 2, 8, 7, 16, 9)
    assertEquals((cursor.nextTag(), cursor.range()), (10, 2))
    val outer = cursor.enter()
    assertEquals((cursor.nextTag(), cursor.int(), cursor.nextTag()), (8, 7, 0))
    cursor.leave(outer)
    assertEquals((cursor.nextTag(), cursor.int(), cursor.nextTag()), (16, 9, 0))
  }
}
