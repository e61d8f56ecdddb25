package io.github.pulsarspark.write.exactlyonce

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Random

import net.jpountz.lz4.LZ4Factory

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.pulsar.transactions.TransactionId

class SinkRecordsSuite extends UnitSuite {
  import SinkRecord._

  private val identity = SinkIdentity("s", "query:q", "o")

  private def transaction(random: Random) = SinkTransaction(
    TransactionId(random.nextLong(), random.nextLong()),
    random.nextInt(),
    random.nextLong(),
    random.nextLong(),
    random.nextLong(),
    Option.when(random.nextBoolean())("1:2")
  )

  test("a record is read as it was written") {
    val random = new Random(1)
    (1 to 200).foreach { _ =>
      val all     = Seq.fill(random.nextInt(4))(transaction(random))
      val one     = transaction(random)
      val records = Seq(
        Owner("t"),
        Prepared(random.nextLong(), all, "7:0", "t"),
        Prepared(random.nextLong(), all, "7:0", "*", Seq("persistent://a/b/c", "persistent://a/b/d-partition-1"),
          isTakenOn = true),
        Done(random.nextLong(), random.nextInt(), random.nextLong(), random.nextLong(), "t"),
        Done(1, 2, 3, 4, "t", Map("persistent://a/b/c" -> random.nextLong(), "" -> 7L), lost = 9, isTakenOn = true),
        Dropped(random.nextLong()),
        Open(random.nextLong(), one, 5, 6),
        Marker(random.nextLong(), one),
        Barrier("b"),
        Other("new")
      )
      records.foreach(r => assertEquals(SinkRecords.parse(SinkRecords.text(identity, r)), Some(identity -> r)))
    }
  }

  test("the record of the largest epoch fits into a message of Pulsar's default size") {
    val random = new Random(3)
    val all    = Seq.tabulate(SinkSettings.MaxTasks)(n =>
      SinkTransaction(
        TransactionId(random.nextInt(16).toLong, random.nextInt(100000000).toLong),
        n,
        1000000000L + random.nextInt(1000000),
        random.nextInt(10000000).toLong,
        random.nextInt(Int.MaxValue).toLong,
        Some(s"${1000000 + random.nextInt(50)}:${random.nextInt(50000)}")
      )
    )
    val bytes = SinkRecords.text(identity, Prepared(7, all, "1000000:4", "t")).getBytes(UTF_8)
    val size  = LZ4Factory.fastestJavaInstance().fastCompressor().compress(bytes).length
    assert(size < 5 * 1024 * 1024, s"$size of ${bytes.length}")
  }

  test("the page of the format shows a record as it is") {
    val record = Prepared(7, Seq(SinkTransaction(TransactionId(0, 41), 0, 12, 100, 5120, Some("33:7"))), "33:4",
      "persistent://public/default/rides")
    assertEquals(
      SinkRecords.text(SinkIdentity("trips", "query:6f1c", "0b7e"), record, 1790000000000L),
      """{"version":1,"kind":"prepared","sinkId":"trips","nonce":"query:6f1c","owner":"0b7e","time":1790000000000,""" +
        """"epoch":7,"target":"persistent://public/default/rides","from":"33:4","transactions":[{"most":0,"least":41,"partition":0,"attempt":12,"rows":100,""" +
        """"bytes":5120,"marker":"33:7"}]}"""
    )
  }

  test("texts that are no records are ignored") {
    Seq("", "[]", "{}", """{"version":2,"kind":"owner","sinkId":"s","nonce":"n","owner":"o"}""", "\u0000").foreach(t =>
      assertEquals(SinkRecords.parse(t), None, t)
    )
  }
}
