package io.github.pulsarspark.storage.bookkeeper.client

import scala.util.Try

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.storage.segment.BookieLocation

class InMemoryLedgerMetadataSuite extends UnitSuite {

  private val location = BookieLocation(3, 1, 1, 1, "CRC32C", Seq(0L -> Seq("127.0.0.1:3181")), None)

  test("a ledger that several tasks read is closed at the last entry of any of them, and known while one reads") {
    val store             = new InMemoryLedgerMetadata
    def end: Option[Long] = Try(store.find(7).get.getValue.getLastEntryId).toOption
    for ((last, expected) <- Seq((4L, 4L), (9L, 9L), (6L, 9L))) {
      store.add(7, location, last)
      assertEquals(end, Some(expected))
    }
    val left = (1 to 3).map { _ =>
      store.remove(7)
      end
    }
    assertEquals(left, Seq(Some(9L), Some(9L), None))
  }
}
