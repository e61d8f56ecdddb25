package io.github.pulsarspark.write

import java.util.concurrent.atomic.AtomicLong

import scala.concurrent.duration._

import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.options.WriteOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}

class CheckedWriteSuite extends UnitSuite {

  private val input = StructType.fromDDL("value string")

  private def options(topic: String) =
    WriteOptions(CheckedOptions(Map("service.url" -> "pulsar://h:1", "topic" -> topic), Scope.StreamWrite, _ => Nil))

  test("micro-batches within a minute share a check; a failure, other options or columns need another") {
    val now                                                          = new AtomicLong
    val write                                                        = new CheckedWrite(() => now.get)
    var checks                                                       = 0
    def check(topic: String = "t", columns: StructType = input): Int = {
      write.plan(columns, options(topic)) { checks += 1; None }
      checks
    }
    assertEquals(check(), 1)
    assertEquals(check(), 1)
    now.addAndGet(59.seconds.toNanos)
    assertEquals(check(), 1)
    now.addAndGet(1.second.toNanos)
    assertEquals(check(), 2)
    write.forget()
    assertEquals(check(), 3)
    assertEquals(check(topic = "other"), 4)
    assertEquals(check(topic = "other", columns = input.add("key", "string")), 5)
  }

  test("a check that failed, repeated the next time") {
    val write = new CheckedWrite
    intercept[IllegalStateException](write.plan(input, options("t"))(throw new IllegalStateException))
    assertEquals(write.plan(input, options("t"))(None), None)
  }
}
