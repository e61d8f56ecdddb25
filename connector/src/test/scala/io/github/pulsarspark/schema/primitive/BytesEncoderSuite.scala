package io.github.pulsarspark.schema.primitive

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.schema.columns.EncodedValue

class BytesEncoderSuite extends UnitSuite {

  private val columns =
    StructType(Seq(StructField("n", LongType), StructField("b", BinaryType), StructField("s", StringType)))
  private val bytes     = Array.tabulate[Byte](3000)(_.toByte)
  private val text      = UTF8String.fromString("a€b")
  private val generic   = InternalRow(1L, bytes, text)
  private val unsafe    = UnsafeProjection.create(columns)(generic)
  private val ofNumbers = {
    val words  = new Array[Long](unsafe.getSizeInBytes / 8)
    val result = new UnsafeRow(3)
    Platform.copyMemory(unsafe.getBaseObject, unsafe.getBaseOffset, words, Platform.LONG_ARRAY_OFFSET.toLong,
      unsafe.getSizeInBytes.toLong)
    result.pointTo(words, Platform.LONG_ARRAY_OFFSET.toLong, unsafe.getSizeInBytes)
    result
  }

  for ((kind, row) <- Seq("generic" -> generic, "Spark's" -> unsafe, "sorted" -> ofNumbers))
    test(s"bytes and texts of rows: $kind") {
      val value = new EncodedValue
      Seq((1, false, bytes), (2, true, text.getBytes)).foreach { case (ordinal, isText, expected) =>
        val encoder = new BytesEncoder(ordinal, isText)
        assertEquals(encoder.encode(row).toSeq, expected.toSeq)
        encoder.encode(row, value)
        assertEquals(value.array.slice(value.offset, value.offset + value.length).toSeq, expected.toSeq)
        assertEquals(value.toArray.toSeq, expected.toSeq)
      }
    }

  test("a null is a tombstone, an empty value is none") {
    val value = new EncodedValue
    new BytesEncoder(0, isText = false).encode(InternalRow(null), value)
    assertEquals((value.array, value.toArray), (null, null))
    new BytesEncoder(0, isText = false).encode(InternalRow(Array.empty[Byte]), value)
    assertEquals(value.toArray.toSeq, Nil)
  }

  test("an array that is referred to is copied for those who keep it") {
    val value  = new EncodedValue
    val shared = Array[Byte](1, 2)
    value.refer(shared, 0, 2)
    val kept = value.toArray
    shared(0) = 9
    assertEquals(kept.toSeq, Seq[Byte](1, 2))
  }
}
