package io.github.pulsarspark.write.exactlyonce

import scala.concurrent.duration._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.pulsar.transactions.TransactionId

/** Ages of transactions, while the clocks of driver and tasks are set. */
class OpenTransactionsSuite extends UnitSuite {

  private val identity = SinkIdentity("s", "n", "o")

  private def id(number: Int) = TransactionId(0, number.toLong)

  /** A driver whose time is 100 s, and another clock that nobody sets. */
  private class Driver {
    var time    = 100.seconds
    var elapsed = 5.seconds
    val open    = new OpenTransactions(() => time.toMillis, () => elapsed.toNanos)

    def read(number: Int, began: FiniteDuration): Unit = {
      val record = SinkRecord.Open(7, SinkTransaction(id(number), 0, 0), 1000, began.toMillis)
      open.add(Seq(s"$number" -> SinkRecords.text(identity, record)))
    }
  }

  test("a transaction is as old as it was when it was read, and what passed since then") {
    val driver = new Driver
    driver.read(1, began = 90.seconds)
    driver.read(2, began = 97.seconds)
    driver.elapsed += 4.seconds
    assertEquals(driver.open.age(Seq(id(2))), Some(7.seconds))
    assertEquals(driver.open.age(Seq(id(1), id(2))), Some(14.seconds))
    assertEquals(driver.open.oldest, 4000L)
    assertEquals(driver.open.age(Nil), Some(Duration.Zero))
  }

  test("the driver's clock is set: ages stay") {
    val driver = new Driver
    driver.read(1, began = 90.seconds)
    Seq(1.hour, -1.hour).foreach { jump =>
      driver.time += jump
      assertEquals(driver.open.age(Seq(id(1))), Some(10.seconds))
      assertEquals(driver.open.oldest, 0L)
    }
  }

  test("the clock of a task is ahead of the driver's: far ahead, the age is unknown, and not 0") {
    val driver = new Driver
    driver.read(1, began = 101.seconds)
    driver.read(2, began = 161.seconds)
    driver.elapsed += 4.seconds
    assertEquals(driver.open.age(Seq(id(1))), Some(4.seconds))
    assertEquals(driver.open.age(Seq(id(1), id(2))), None)
  }
}
