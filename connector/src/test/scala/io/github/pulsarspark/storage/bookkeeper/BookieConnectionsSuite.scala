package io.github.pulsarspark.storage.bookkeeper

import java.nio.file.Files

import munit.FunSuite

import io.github.pulsarspark.errors.PulsarException
import io.github.pulsarspark.options.BookieTls

class BookieConnectionsSuite extends FunSuite {

  test("a file that is not there, or not what it should be, fails before any connection is tried") {
    val folder = Files.createTempDirectory("bookie-tls")
    val text   = Files.writeString(folder.resolve("text.pem"), "not PEM")
    try
      Seq(folder.resolve("missing.pem") -> "PULSAR_FILE_UNREADABLE", text -> "PULSAR_FILE_NOT_PEM").foreach { case (file, condition) =>
        val error = intercept[PulsarException](new BookieConnections(BookieTls(file.toString, None, skipHostnameVerification = false)))
        assertEquals(error.condition, condition)
        assert(error.getMessage.contains(s"`bookie.tls.trustCertsFile` names the file $file"), error.getMessage)
      }
    finally {
      Files.delete(text)
      Files.delete(folder)
    }
  }
}
