package io.github.pulsarspark.storage.bookkeeper.bookies

import java.lang.reflect.Proxy
import java.util.concurrent.CompletableFuture

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import io.netty.buffer.{ByteBuf, Unpooled}
import org.apache.bookkeeper.client.api.{LedgerEntries, LedgerEntry, ReadHandle}
import org.apache.bookkeeper.client.impl.{LedgerEntriesImpl, LedgerEntryImpl}

import io.github.pulsarspark.UnitSuite

class EntryWindowSuite extends UnitSuite {

  /** A ledger whose answers the test gives. */
  private final class Ledger {
    val answers: mutable.ArrayBuffer[CompletableFuture[LedgerEntries]] = mutable.ArrayBuffer.empty
    val buffers: mutable.ArrayBuffer[ByteBuf]                          = mutable.ArrayBuffer.empty

    val handle: ReadHandle = classOf[ReadHandle].cast(
      Proxy.newProxyInstance(
        getClass.getClassLoader,
        Array[Class[_]](classOf[ReadHandle]),
        (_, method, _) => {
          assertEquals(method.getName, "batchReadAsync")
          answers += new CompletableFuture[LedgerEntries]
          answers.last
        }
      )
    )

    def window(last: Long): EntryWindow =
      EntryWindow.request(CompletableFuture.completedFuture(handle), 0, last, EntryWindow.Batch(1000))

    def answer(request: Int, entries: Long*): Unit = {
      val found = entries.map { id =>
        buffers += Unpooled.directBuffer(8).writeLong(id)
        LedgerEntryImpl.create(1, id, 8, buffers.last): LedgerEntry
      }
      answers(request).complete(LedgerEntriesImpl.create(new java.util.ArrayList(found.asJava)))
      ()
    }

    def inUse: Int = buffers.map(_.refCnt).sum
  }

  test("a window that is released gives back what is there at once, and what comes later when it comes") {
    val ledger = new Ledger
    val window = ledger.window(9)
    ledger.answer(0, 0, 1, 2)
    assertEquals(ledger.answers.size, 2)
    window.release()
    assertEquals(ledger.inUse, 0)
    ledger.answer(1, 3, 4)
    assertEquals(ledger.inUse, 0)
    assertEquals(ledger.answers.size, 2, "it asks on")
  }

  test("a window that was read in part gives everything back") {
    val ledger = new Ledger
    val window = ledger.window(4)
    ledger.answer(0, 0, 1)
    ledger.answer(1, 2, 3, 4)
    window.await(1000)
    assertEquals((0 to 2).map(_ => window.next().getEntryId), Seq(0L, 1L, 2L))
    assertEquals(ledger.inUse, 3)
    window.release()
    window.release()
    assertEquals(ledger.inUse, 0)
  }

  test("a window whose answer failed gives back what came before") {
    val ledger = new Ledger
    val window = ledger.window(4)
    ledger.answer(0, 0, 1)
    ledger.answers(1).completeExceptionally(new IllegalStateException)
    window.release()
    assertEquals(ledger.inUse, 0)
  }
}
