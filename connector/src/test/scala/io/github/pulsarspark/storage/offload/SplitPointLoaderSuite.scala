package io.github.pulsarspark.storage.offload

import java.nio.file.Files
import java.util.concurrent.CountDownLatch
import java.util.concurrent.locks.LockSupport

import scala.concurrent.duration._
import scala.util.{Failure, Success, Try}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.storage.KilledTasks
import io.github.pulsarspark.storage.offload.format.{BlockFormat, OffloadLocation, OffloadedLedger}
import io.github.pulsarspark.storage.segment.SegmentUnreadable

class SplitPointLoaderSuite extends UnitSuite {
  import OffloadWriter._

  private val folder = Files.createTempDirectory("slow")
  private val writer = new OffloadWriter(folder)
  SlowFiles.configure(writer.configuration)

  private val ledgers: Seq[OffloadedLedger] = Seq.tabulate(100) { n =>
    val ledger = writer.blockLedger(n.toLong)
    writer.writeBlocks(ledger, blocks(Seq(Array[Byte](1)), 200, metadata(0)))
    ledger.copy(location = OffloadLocation(BlockFormat, s"slow://$folder"))
  }

  override def beforeEach(context: BeforeEach): Unit = {
    SlowFiles.delay = _ => ()
    SlowFiles.opened.set(0)
  }

  private def found(deadline: FiniteDuration): Seq[Try[Seq[Long]]] =
    OffloadedLedgers.splitPoints(ledgers, writer.configuration, deadline)

  private def isSilence(blocks: Try[Seq[Long]]): Boolean = blocks match {
    case Failure(e: SegmentUnreadable) => e.silent == Seq(s"slow://$folder")
    case _                             => false
  }

  private def isUnrequested(blocks: Try[Seq[Long]]): Boolean = blocks == Failure(SplitPointLoader.NoTime)

  private def threads: Seq[String] = KilledTasks.threads("pulsar-spark-offloaded")

  private def assertNoThreads(): Unit = KilledTasks.eventually(s"threads are left: $threads")(threads.isEmpty)

  test("all blocks are found where there is time") {
    assert(found(30.seconds).forall(_.get.size == 1))
    assertNoThreads()
  }

  test("storage that responds, but not always in time, is not silent") {
    SlowFiles.delay = _ => LockSupport.parkNanos(1.second.toNanos)
    val blocks = found(6.seconds) // enough for six times sixteen ledgers, if nothing else took time
    assert(blocks.exists(_.isSuccess), "nothing was found")
    assertEquals(blocks.filterNot(_.isSuccess).distinct, Seq(Failure(SplitPointLoader.NoTime)))
    assertNoThreads()
  }

  test("without time nothing is requested, and no thread begins") {
    val before = threads
    assert(found(0.seconds).forall(isUnrequested))
    assertEquals(SlowFiles.opened.get, 0)
    assertEquals(threads.diff(before), Nil)
  }

  test("storage that does not respond is silent, which costs half of the deadline and few requests") {
    val answers = new CountDownLatch(1)
    SlowFiles.delay = file => if (!file.getName.contains("-ledger-0-")) answers.await()
    val started = System.nanoTime()
    val blocks  =
      try found(8.seconds)
      finally answers.countDown()
    assert((System.nanoTime() - started).nanos < 8.seconds)
    assert(blocks.head.isInstanceOf[Success[_]])
    assertEquals(blocks.count(isSilence), 16)
    assertEquals(blocks.count(isUnrequested), 83)
    assertEquals(SlowFiles.opened.get, 17)
    assertNoThreads()
  }
}
