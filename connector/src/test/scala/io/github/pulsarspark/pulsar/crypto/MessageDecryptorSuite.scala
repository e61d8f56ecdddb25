package io.github.pulsarspark.pulsar.crypto

import java.io.StringWriter
import java.nio.ByteBuffer
import java.nio.file.{Files, Path}
import java.security.{KeyPair, KeyPairGenerator}
import java.util.{Map => JMap, Set => JSet}

import scala.jdk.CollectionConverters._

import io.netty.buffer.{ByteBuf, Unpooled}
import org.apache.pulsar.client.api.{CryptoKeyReader, EncryptionKeyInfo}
import org.apache.pulsar.client.impl.crypto.MessageCryptoBc
import org.apache.pulsar.common.api.proto.CompressionType
import org.apache.pulsar.common.protocol.Commands
import org.bouncycastle.openssl.jcajce.JcaPEMWriter

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.format.entry.PrecedingEntries
import io.github.pulsarspark.format.{ChunkedLog, DecodeDepth, EntryDecoder, LogEntry, Received, Sent, StoredEntry}
import io.github.pulsarspark.options.PrivateKeys

class MessageDecryptorSuite extends UnitSuite {
  import MessageDecryptorSuite._

  private val folder =
    FunFixture[Path](_ => Files.createTempDirectory("keys"),
      path => Files.walk(path).iterator.asScala.toSeq.reverse.foreach(Files.delete))

  private def decoder(keys: PrivateKeys, earlier: Option[PrecedingEntries] = None) =
    new EntryDecoder("persistent://a/b/t", DecodeDepth.Message, earlier = earlier,
      decryptor = new MessageDecryptor("t", keys))

  private def file(folder: Path, name: String, key: AnyRef): String =
    Files.writeString(folder.resolve(name), pem(key)).toString

  private def failure(decoder: EntryDecoder, entry: ByteBuf): String = {
    val error = intercept[RuntimeException with PulsarError](Received.byDecoder(decoder, entry))
    assertEquals(error.condition, "PULSAR_ENTRY_ENCRYPTED")
    error.parameters("reason")
  }

  folder.test("payloads are decrypted, batched or not, compressed or not") { path =>
    val reused = decoder(PrivateKeys.Files(Map.empty, Some(file(path, "a.pem", first.getPrivate))))
    for (batched <- Seq(true, false); compression <- CompressionType.values) {
      val sent   = (if (batched) Seq("one", "two") else Seq("only")).map(Sent.text(_).copy(key = Some(Sent.Text("k"))))
      val stored = StoredEntry(sent, batched, compression)
      val crypto = new MessageCryptoBc("test", true) // each with a data key of its own
      assertEquals(Received.byDecoder(reused, encrypted(stored.bytes, crypto, "a")), Received.byClient(stored.bytes))
    }
  }

  folder.test("each chunk is decrypted by itself, also before the range") { path =>
    val value  = Array.tabulate[Byte](50000)(i => (i * i % 251).toByte)
    val crypto = new MessageCryptoBc("test", true)
    val chunks = ChunkedLog.split(value, 4, "u", 5, CompressionType.LZ4).map(encrypted(_, crypto, "a"))
    val log    = ChunkedLog(chunks.zipWithIndex.map { case (bytes, i) =>
      LogEntry(io.github.pulsarspark.position.Position(3, i.toLong), "u", i, 4, 5, Nil, bytes)
    })
    for (from <- Seq(0, 2, 3)) {
      val reader =
        decoder(PrivateKeys.Files(Map("a" -> file(path, "a.pem", first.getPrivate)), None),
          Some(log.earlier(misleading = false)))
      log.entries.drop(from).foreach(e => reader.open(e.at.ledgerId, e.at.entryId, e.bytes, -1, Int.MaxValue))
      assert(reader.next())
      assertEquals(Received.copyOf(reader.message).value, Some(value.toSeq))
    }
  }

  folder.test("any one of several keys decrypts") { path =>
    val entry =
      encrypted(StoredEntry(Seq(Sent.text("v")), batched = true).bytes, new MessageCryptoBc("test", true), "a", "b")
    val keys = PrivateKeys.Files(Map("b" -> s"file://${file(path, "b.pem", second.getPrivate)}"), None)
    assertEquals(Received.byDecoder(decoder(keys), entry).size, 1)
  }

  folder.test("an error explains why a payload cannot be decrypted, without any key's content") { path =>
    val entry =
      encrypted(StoredEntry(Seq(Sent.text("v")), batched = true).bytes, new MessageCryptoBc("test", true), "a")
    val another                   = file(path, "b.pem", second.getPrivate)
    val garbage                   = Files.writeString(path.resolve("c.pem"), "not a key").toString
    def reason(keys: PrivateKeys) = failure(decoder(keys), entry)
    assertEquals(reason(PrivateKeys.Files(Map.empty, Some(another))), "no private key that was given fits its key `a`")
    assertEquals(reason(PrivateKeys.Files(Map.empty, Some(garbage))), "no private key that was given fits its key `a`")
    assertEquals(
      reason(PrivateKeys.Files(Map("b" -> another), None)),
      "no private key that was given fits its key `a`; no file is given for `a`"
    )
    assertEquals(
      reason(PrivateKeys.Files(Map.empty, Some("/no/such.pem"))),
      "no private key that was given fits its key `a`; the file /no/such.pem does not exist on this machine"
    )
    assertEquals(
      reason(PrivateKeys.ReaderClass(classOf[FailingReader].getName)),
      s"${classOf[FailingReader].getName} failed with IllegalStateException"
    )
    assertEquals(failure(new EntryDecoder("t", DecodeDepth.Message), entry), "the query has no private keys")
  }

  test("keys of a message that are not what they should be are a damaged entry") {
    val entry = encrypted(StoredEntry(Seq(Sent.text("v")), batched = true, checksum = false).bytes,
      new MessageCryptoBc("test", true), "a")
    val plain = entry.skipBytes(6).slice()                                               // without the checksum
    val keys  = PrivateKeys.ReaderClass(classOf[TestKeys].getName)
    val tag   = (0 until plain.readableBytes - 1).find(i => plain.getByte(i) == 106).get // of an encryption key
    plain.setByte(tag + 2, 0x7f) // an unknown field of it
    val error = intercept[RuntimeException with PulsarError](Received.byDecoder(decoder(keys), plain))
    assertEquals(error.condition, "PULSAR_ENTRY_CORRUPT")
  }

  test("a custom key reader is loaded by its class name") {
    val entry =
      encrypted(StoredEntry(Seq(Sent.text("v")), batched = true).bytes, new MessageCryptoBc("test", true), "a")
    assertEquals(Received.byDecoder(decoder(PrivateKeys.ReaderClass(classOf[TestKeys].getName)), entry).size, 1)
    for (name <- Seq("no.such.Class", "java.lang.String", classOf[MessageDecryptor].getName)) {
      val error =
        intercept[RuntimeException with PulsarError](Received.byDecoder(decoder(PrivateKeys.ReaderClass(name)), entry))
      assertEquals((error.condition, error.parameters("value")), ("PULSAR_OPTION_INVALID", name))
    }
  }
}

object MessageDecryptorSuite {
  private def pair: KeyPair = {
    val generator = KeyPairGenerator.getInstance("RSA")
    generator.initialize(2048)
    generator.generateKeyPair()
  }
  private[crypto] val first = pair
  private val second        = pair

  private[crypto] def pem(key: AnyRef): String = {
    val text   = new StringWriter
    val writer = new JcaPEMWriter(text)
    writer.writeObject(key)
    writer.close()
    text.toString
  }

  /** The first key is called a, the second one b. */
  final class TestKeys extends CryptoKeyReader {
    private def named(name: String) = if (name == "a") first else second
    private def info(key: AnyRef)   = new EncryptionKeyInfo(pem(key).getBytes("UTF-8"), null)
    override def getPublicKey(name: String, metadata: JMap[String, String])  = info(named(name).getPublic)
    override def getPrivateKey(name: String, metadata: JMap[String, String]) = info(named(name).getPrivate)
  }

  final class FailingReader extends CryptoKeyReader {
    override def getPublicKey(name: String, metadata: JMap[String, String])  = throw new IllegalStateException("secret")
    override def getPrivateKey(name: String, metadata: JMap[String, String]) = throw new IllegalStateException("secret")
  }

  /** Encrypts an entry for these keys, as a producer stores it. */
  private[crypto] def encrypted(stored: ByteBuf, crypto: MessageCryptoBc, keys: String*): ByteBuf = {
    Commands.skipChecksumIfPresent(stored)
    val metadata = Commands.parseMessageMetadata(stored)
    val target   = ByteBuffer.allocate(crypto.getMaxOutputSize(stored.readableBytes))
    crypto.encrypt(JSet.of(keys: _*), new TestKeys, () => metadata, stored.nioBuffer, target)
    Unpooled.copiedBuffer(
      Commands.serializeMetadataAndPayload(Commands.ChecksumType.Crc32c, metadata, Unpooled.wrappedBuffer(target))
    )
  }
}
