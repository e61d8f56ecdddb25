package io.github.pulsarspark.pulsar.crypto

import java.nio.ByteBuffer
import java.nio.file.{Files, Path}
import java.util.{Map => JMap}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}

import scala.concurrent.duration._
import scala.jdk.CollectionConverters._

import org.apache.pulsar.client.api.{CryptoKeyReader, EncryptionKeyInfo}
import org.apache.pulsar.client.impl.crypto.MessageCryptoBc
import org.apache.pulsar.common.api.proto.MessageMetadata

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.options.{NamedFile, PrivateKeys, PublicKeys}

class EncryptionSuite extends UnitSuite {
  import MessageDecryptorSuite._

  private val folder =
    FunFixture[Path](_ => Files.createTempDirectory("keys"),
      path => Files.walk(path).iterator.asScala.toSeq.reverse.foreach(Files.delete))

  private def file(folder: Path, name: String, content: String): String =
    Files.writeString(folder.resolve(name), content).toString

  private def keys(file: String) = PublicKeys.Files(Map("app" -> file))

  folder.test("every message is decrypted, also those that are encrypted while the client renews its key") { path =>
    val public   = PublicKeyReader("t", keys(file(path, "a.pub.pem", pem(first.getPublic))))
    val reader   = new KeyFiles(PrivateKeys.Files(Map.empty, Some(file(path, "a.pem", pem(first.getPrivate)))))
    val names    = Set("app").asJava
    val crypto   = new SerialCrypto("t")
    val isOver   = new AtomicBoolean
    val renewals = new AtomicInteger
    crypto.addPublicKeyCipher(names, public)
    val renewing =
      new Thread(() => while (!isOver.get) { crypto.addPublicKeyCipher(names, public); renewals.incrementAndGet() })
    renewing.start()
    val deadline = 2.minutes.fromNow
    val plain    = new Array[Byte](16384)
    val other    = new MessageCryptoBc("[reader]", false)
    try
      Iterator.from(1).takeWhile(n => n <= 20 || renewals.get <= 10 && deadline.hasTimeLeft()).foreach { n =>
        val metadata = new MessageMetadata
        val secret   = ByteBuffer.allocate(crypto.getMaxOutputSize(plain.length))
        crypto.encrypt(names, public, () => metadata, ByteBuffer.wrap(plain), secret)
        val opened = ByteBuffer.allocate(other.getMaxOutputSize(secret.remaining))
        assert(other.decrypt(() => metadata, secret, opened, reader), s"message $n after ${renewals.get} renewals")
      }
    finally {
      isOver.set(true)
      renewing.join()
    }
    assert(renewals.get > 10, renewals)
  }

  folder.test("a file that goes away does not matter any more") { path =>
    val public = file(path, "a.pub.pem", pem(first.getPublic))
    val read   = PublicKeyReader("t", keys(public))
    val before = read.getPublicKey("app", Map.empty[String, String].asJava).getKey.toSeq
    Files.delete(Path.of(public))
    assertEquals(read.getPublicKey("app", Map.empty[String, String].asJava).getKey.toSeq, before)
  }

  folder.test("a file that is no public key is refused") { path =>
    val large = "x" * (NamedFile.MaxBytes + 1)
    for (
      (file, problem) <- Seq(
        file(path, "text", "text")                   -> "holds no public key in PEM",
        file(path, "private", pem(first.getPrivate)) -> "holds no public key in PEM",
        file(path, "large", large)                   -> "has more than 16777216 bytes",
        path.resolve("missing").toString             -> "does not exist on this machine",
        path.toString                                -> "is no file",
        "/dev/zero"                                  -> "is no file"
      )
    ) {
      val e = intercept[IllegalArgumentException with PulsarError](PublicKeyReader("t", keys(file)))
      assertEquals((e.condition, e.parameters("problem")), ("PULSAR_ENCRYPTION_KEY", problem), file)
    }
  }

  test("keys of a reader of the user's are requested once") {
    val public = PublicKeyReader("t", PublicKeys.ReaderClass(classOf[EncryptionSuite.Reader].getName, Set("app", "b")))
    val before = EncryptionSuite.requests.get
    val found  = public.getPublicKey("app", Map.empty[String, String].asJava)
    assertEquals(found.getKey.toSeq, pem(first.getPublic).getBytes.toSeq)
    assertEquals(found.getMetadata.asScala.toMap, Map("version" -> "7"))
    assertEquals((before, EncryptionSuite.requests.get), (2, 2))
    for ((name, problem) <- Seq("none" -> "has no such key", "broken" -> "failed with IllegalStateException")) {
      val e = intercept[IllegalArgumentException with PulsarError](
        PublicKeyReader("t", PublicKeys.ReaderClass(classOf[EncryptionSuite.Reader].getName, Set(name)))
      )
      assertEquals((e.condition, e.parameters("problem")), ("PULSAR_ENCRYPTION_KEY", problem))
      assert(!e.getMessage.contains("s3cret"), e.getMessage)
    }
  }
}

private object EncryptionSuite {
  val requests = new AtomicInteger

  final class Reader extends CryptoKeyReader {

    override def getPublicKey(name: String, metadata: JMap[String, String]): EncryptionKeyInfo = {
      requests.incrementAndGet()
      name match {
        case "none"   => null
        case "broken" => throw new IllegalStateException("s3cret")
        case _        =>
          new EncryptionKeyInfo(MessageDecryptorSuite.pem(MessageDecryptorSuite.first.getPublic).getBytes,
            JMap.of("version", "7"))
      }
    }

    override def getPrivateKey(name: String, metadata: JMap[String, String]): EncryptionKeyInfo = null
  }
}
