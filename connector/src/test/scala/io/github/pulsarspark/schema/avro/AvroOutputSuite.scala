package io.github.pulsarspark.schema.avro

import java.math.BigDecimal

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.schema.columns.EncodedValue

class AvroOutputSuite extends UnitSuite {

  private val out   = new AvroOutput
  private val value = new EncodedValue

  private def written(write: AvroOutput => Any): Seq[Int] = {
    out.reset()
    write(out)
    out.result(value)
    value.toArray.map(_.toInt).toSeq
  }

  test("a decimal in a fixed fills it with its sign, one in bytes has no more than it needs") {
    assertEquals(written(_.decimal(new BigDecimal("-2.56"), 4)), Seq(-1, -1, -1, 0))
    assertEquals(written(_.decimal(new BigDecimal("2.56"), 4)), Seq(0, 0, 1, 0))
    assertEquals(written(_.decimal(new BigDecimal("-2.56"), -1)), Seq(4, -1, 0))
  }

  test("nothing of a value that failed is in the next one") {
    out.reset()
    out.int(1)
    assertEquals(written(_.int(2)), Seq(4))
  }

  test("arrays and maps are one block each, and an end") {
    val array = written { o => o.startArray(2); o.item(); o.int(1); o.item(); o.int(2); o.endArray() }
    assertEquals(array, Seq(4, 2, 4, 0))
    assertEquals(written { o => o.startArray(0); o.endArray() }, Seq(0))
  }
}
