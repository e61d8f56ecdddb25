package io.github.pulsarspark.pulsar.connection

import java.io.IOException
import java.nio.file.{Files, Path}
import java.security.KeyStore
import java.security.cert.X509Certificate
import java.util.Base64
import javax.net.ssl.{KeyManagerFactory, SSLContext, SSLServerSocket, SSLSocket}

import scala.sys.process._
import scala.util.Using

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{Conditions, Occurrence, PulsarError}
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}

/** Tests which certificates of a server are accepted. Integration tests show that the client accepts the same. */
class TlsContextsSuite extends UnitSuite {
  import TlsContextsSuite._

  private val folder = FunFixture[Path](
    _ => Files.createTempDirectory("tls"),
    made => {
      Files.list(made).forEach(Files.delete(_))
      Files.delete(made)
    }
  )

  private def options(server: Server, more: (String, String)*): ClientOptions = {
    val all = Map("service.url" -> s"pulsar+ssl://localhost:${server.port}", "topic" -> "t") ++ more
    ClientOptions(CheckedOptions(all, Scope.BatchRead, _ => Nil))
  }

  private def certificate(server: Server, more: (String, String)*): Either[TlsProblem, X509Certificate] =
    TlsCheck.certificate(options(server, more: _*), ServiceHost("localhost", server.port))

  private def reason(found: Either[TlsProblem, X509Certificate]): Option[Occurrence] =
    found.left.toOption.map(_.occurrence("Connecting", "url"))

  folder.test("a certificate is accepted if its file is trusted and it is made out for the host") { folder =>
    Using.resource(new Server(folder, "localhost")) { server =>
      val trusted = "tls.trustCertsFile" -> server.trusted.toString
      assertEquals(certificate(server, trusted).map(_.getSubjectX500Principal.getName), Right("CN=localhost"))
      assertEquals(reason(certificate(server)).map(_.condition), Some(Conditions.TlsFailedAuthority))
      assertEquals(PortProtocol.of(ServiceHost("localhost", server.port)), Some(PortProtocol.Tls))
    }
    Using.resource(new Server(folder, "elsewhere")) { server =>
      val trusted = "tls.trustCertsFile" -> server.trusted.toString
      assertEquals(reason(certificate(server, trusted)).map(_.condition), Some(Conditions.TlsFailedHostName))
      assert(certificate(server, trusted, "tls.insecureSkipHostnameVerification" -> "true").isRight)
      assert(certificate(server, "tls.insecureTrustAnyCertificate" -> "true").isRight)
    }
  }

  folder.test("what stands beside certificates in a file is skipped, and each of them is trusted") { folder =>
    Using.resource(new Server(folder, "localhost")) { server =>
      Using.resource(new Server(folder, "elsewhere")) { other =>
        val parts = Seq(
          "# of two hosts",
          Files.readString(other.trusted),
          "-----BEGIN PRIVATE KEY-----",
          "AA==",
          "-----END PRIVATE KEY-----",
          Files.readString(server.trusted).trim.replace("CERTIFICATE", "TRUSTED CERTIFICATE")
        )
        val all = Files.writeString(folder.resolve("all.pem"), parts.mkString("\n"))
        assert(certificate(server, "tls.trustCertsFile" -> all.toString).isRight)
      }
    }
  }

  folder.test("a file without a certificate in PEM is refused by the name of the option, without its content") { folder =>
    Using.resource(new Server(folder, "localhost")) { server =>
      val der  = Base64.getMimeDecoder.decode(Files.readString(server.trusted).replaceAll("-----.*", ""))
      val file = folder.resolve("other.pem")
      val pem  = "-----BEGIN CERTIFICATE-----\nc2VjcmV0\n-----END CERTIFICATE-----\n"
      Seq("".getBytes, "secret".getBytes, pem.getBytes, der).foreach { content =>
        Files.write(file, content)
        val trusted              = "tls.trustCertsFile" -> file.toString
        def refused(use: => Any) = {
          val e = intercept[RuntimeException with PulsarError](use)
          assertEquals((e.condition, e.parameters("option")), ("PULSAR_FILE_NOT_PEM", "tls.trustCertsFile"))
          assertEquals(Option(e.getCause), None)
        }
        refused(certificate(server, trusted))
        refused(ClientFactory(options(server, trusted)))
      }
    }
  }
}

private object TlsContextsSuite {

  /** Shakes hands with who comes, one after the other, and shows a certificate that it made for a host. */
  final class Server(folder: Path, host: String) extends AutoCloseable {
    private val store = folder.resolve(s"$host.p12")
    private val login = Seq("-keystore", store.toString, "-storepass", "secret", "-alias", "a")

    /** The certificate in PEM. */
    val trusted: Path = folder.resolve(s"$host.pem")

    keytool("-genkeypair", "-keyalg", "EC", "-dname", s"CN=$host", "-ext", s"SAN=dns:$host")
    keytool("-exportcert", "-rfc", "-file", trusted.toString)

    private val listener = context.getServerSocketFactory.createServerSocket(0) match {
      case socket: SSLServerSocket => socket
      case other                   => throw new IllegalStateException(other.getClass.getName)
    }
    private val thread = new Thread(() => while (!listener.isClosed) shakeHands())
    thread.setDaemon(true)
    thread.start()

    def port: Int = listener.getLocalPort

    override def close(): Unit = listener.close()

    private def shakeHands(): Unit =
      try
        Using.resource(listener.accept()) {
          case socket: SSLSocket => socket.startHandshake()
          case _                 => ()
        }
      catch { case _: IOException => () }

    private def keytool(what: String*) = (Seq(s"${sys.props("java.home")}/bin/keytool") ++ what ++ login).!!(
      ProcessLogger(_ => ())
    )

    private def context = {
      val keys    = KeyStore.getInstance(store.toFile, "secret".toCharArray)
      val factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm)
      factory.init(keys, "secret".toCharArray)
      val made = SSLContext.getInstance("TLS")
      made.init(factory.getKeyManagers, null, null)
      made
    }
  }
}
