package io.github.pulsarspark.storage.bookkeeper.bookies

import java.nio.file.{Files, Path}

import scala.sys.process._

import org.apache.bookkeeper.conf.ClientConfiguration
import org.apache.bookkeeper.tls.{SecurityException, SecurityHandlerFactory}

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.common.NetworkMemory
import io.github.pulsarspark.errors.PulsarException
import io.github.pulsarspark.options.BookieTls

class BookieConnectionsSuite extends UnitSuite {

  test("a file that is not there, or not what it should be, fails before any connection is tried") {
    val folder = Files.createTempDirectory("bookie-tls")
    val text   = Files.writeString(folder.resolve("text.pem"), "not PEM")
    try
      Seq(folder.resolve("missing.pem") -> "PULSAR_FILE_UNREADABLE", text -> "PULSAR_FILE_NOT_PEM").foreach {
        case (file, condition) =>
          val error = intercept[PulsarException](
            new BookieConnections(BookieTls(file.toString, None, skipHostnameVerification = false))
          )
          assertEquals(error.condition, condition)
          assert(error.getMessage.contains(s"`bookie.tls.trustCertsFile` names the file $file"), error.getMessage)
      }
    finally {
      Files.delete(text)
      Files.delete(folder)
    }
  }

  test(
    "a file that is renewed is read anew, and one that goes away later fails the next connection in the way that BookKeeper's client expects"
  ) {
    val folder  = Files.createTempDirectory("bookie-tls")
    val trusted = certificate(folder)
    try {
      val configuration = new ClientConfiguration
      configuration.setProperty(
        BookieTlsFactory.Property,
        new BookieConnections(BookieTls(trusted.toString, None, skipHostnameVerification = false))
      )
      def connect() =
        new BookieTlsFactory().init(SecurityHandlerFactory.NodeType.Client, configuration, NetworkMemory.allocator)
      connect()
      Files.delete(trusted)
      val error = intercept[SecurityException](connect())
      assert(error.getCause.getMessage.contains(trusted.toString), error.getCause.getMessage)
      certificate(folder)
      connect()
    } finally {
      Files.list(folder).forEach(Files.delete(_))
      Files.delete(folder)
    }
  }

  /** A certificate in PEM. */
  private def certificate(folder: Path): Path = {
    val store   = folder.resolve("keys.p12")
    val file    = folder.resolve("trusted.pem")
    val keytool =
      Seq(s"${sys.props("java.home")}/bin/keytool", "-keystore", store.toString, "-storepass", "secret", "-alias", "a")
    if (Files.notExists(store))
      (keytool ++ Seq("-genkeypair", "-keyalg", "EC", "-dname", "CN=bookie")).!!(ProcessLogger(_ => ()))
    (keytool ++ Seq("-exportcert", "-rfc", "-file", file.toString)).!!(ProcessLogger(_ => ()))
    file
  }
}
