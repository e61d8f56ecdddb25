package io.github.pulsarspark.storage.offload

import java.nio.file.Files
import java.util.concurrent.CountDownLatch

import scala.util.Using

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.storage.offload.format.{BlockFormat, OffloadLocation, OffloadedLedger}
import io.github.pulsarspark.storage.segment.{HadoopSettings, Segment, SegmentUnreadable}

class OffloadStoreSuite extends UnitSuite {
  import OffloadWriter._

  private val writer = new OffloadWriter(Files.createTempDirectory("store"))
  SlowFiles.configure(writer.configuration)

  private def storeWith(operationTimeoutMs: Long) = new OffloadStore(
    ReadOptions(CheckedOptions(
      Map("service.url"      -> "pulsar://localhost:1", "topic" -> "t",
        "operationTimeoutMs" -> operationTimeoutMs.toString),
      Scope.BatchRead,
      _ => Nil
    )),
    HadoopSettings.of(writer.configuration)
  )

  private val store = storeWith(operationTimeoutMs = 60000)

  /** Ledger in its own storage, which the store does not know yet. */
  private def slowLedger(): OffloadedLedger = {
    val folder = Files.createTempDirectory("slow")
    val writer = new OffloadWriter(folder)
    val ledger = writer.blockLedger()
    writer.writeBlocks(ledger, blocks(Seq.fill(8)(new Array[Byte](100)), 400, metadata(7)))
    ledger.copy(location = OffloadLocation(BlockFormat, s"slow://$folder"))
  }

  override def beforeEach(context: BeforeEach): Unit = {
    SlowFiles.delay = _ => ()
    SlowFiles.opened.set(0)
  }

  test("storage that responds has split points and no obstacle") {
    val ledger = slowLedger()
    assertEquals(store.splitPoints(Seq(ledger)), Map(7L -> Seq(0L, 2L, 4L, 6L)))
    assertEquals(store.obstacle(7, ledger), None)
  }

  test("storage that does not respond is an obstacle for all its ledgers, and is not requested again") {
    val ledger   = slowLedger()
    val store    = storeWith(operationTimeoutMs = 6000)
    val released = new CountDownLatch(1)
    SlowFiles.delay = _ => released.await()
    try assertEquals(store.splitPoints(Seq(ledger)), Map.empty[Long, Seq[Long]])
    finally released.countDown()
    assertEquals(SlowFiles.opened.get, 1)
    assertEquals(store.splitPoints(Seq(ledger)), Map.empty[Long, Seq[Long]])
    assertEquals(SlowFiles.opened.get, 1)
    assertEquals(store.obstacle(8, ledger.copy(ledgerId = 8)),
      Some(s"${ledger.location.uri} did not respond in the last 5 minutes"))
    assertEquals(store.obstacle(7, slowLedger()), None)
  }

  test("a copy that is gone, no obstacle for other ledgers") {
    val gone = slowLedger().copy(ledgerId = 8)
    assertEquals(store.splitPoints(Seq(gone)), Map.empty[Long, Seq[Long]])
    Using.resource(store.open(Segment(8, 0, 7, 800, gone), gone)) { source =>
      val failure = intercept[SegmentUnreadable](source.next())
      assert(!failure.isSilent)
      store.failed(failure)
    }
    assertEquals(store.obstacle(8, gone), None)
  }
}
