package io.github.pulsarspark.checkpoint

import java.io.{ByteArrayInputStream, EOFException, IOException}

import scala.collection.mutable

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.github.pulsarspark.PropertySuite
import io.github.pulsarspark.errors.{Conditions, PulsarError}

/** Files of a checkpoint store while they are read, by [[StoreInput]], and written, by [[StoreOutput]]. */
class StoreStreamsSuite extends PropertySuite {

  private val bytes = Gen.choose(0, 300).map(n => Array.tabulate(n)(i => (i * 7).toByte))

  property("any reads of a file find its bytes, in order, up to its end") {
    forAll(bytes, Gen.listOf(Gen.choose(0, 50))) { (file, sizes) =>
      val (own, java) = (new StoreInput(file), new ByteArrayInputStream(file))
      sizes.foreach { size =>
        val (found, expected) = (new Array[Byte](60), new Array[Byte](60))
        if (size == 49) assertEquals(own.read(), java.read())
        else assertEquals(own.read(found, 5, size), if (size == 0) 0 else java.read(expected, 5, size))
        assertEquals(found.toSeq, expected.toSeq)
        assertEquals(own.available, java.available)
        assertEquals(own.getPos, file.length.toLong - java.available)
      }
    }
  }

  property("a seek goes anywhere in a file and to its end, and nowhere else") {
    forAll(bytes, Gen.choose(-2, 302)) { (file, to) =>
      val input = new StoreInput(file)
      if (to < 0 || to > file.length) { intercept[EOFException](input.seek(to.toLong)); () }
      else {
        input.seek(to.toLong)
        assertEquals(input.readAllBytes().toSeq, file.drop(to).toSeq)
      }
    }
  }

  test("a stream that is closed reads nothing") {
    val input = new StoreInput(Array[Byte](1, 2))
    input.close()
    intercept[IOException](input.read())
    intercept[IOException](input.read(new Array[Byte](2), 0, 2))
    intercept[IOException](input.seek(0))
  }

  private final class Written(limit: Long) {
    val files: mutable.Buffer[Seq[Byte]] = mutable.Buffer.empty
    val output                           = new StoreOutput(limit, full, bytes => { files += bytes.toSeq; () })
  }

  private def full(bytes: Long) =
    Conditions.CheckpointStoreFull(topic = "t", bytes = bytes.toString, limit = "many")

  property("a file is all that was written, once, when it is closed") {
    forAll(Gen.listOf(bytes)) { parts =>
      val written = new Written(Long.MaxValue)
      parts.foreach { part =>
        written.output.write(part, 0, part.length)
        written.output.write(300)
      }
      assertEquals(written.files.toSeq, Nil)
      written.output.close()
      written.output.close()
      assertEquals(written.files.toSeq, Seq(parts.flatMap(_.toSeq :+ 300.toByte)))
      intercept[IOException](written.output.write(1))
      ()
    }
  }

  property("a file has as many bytes as its limit, and one more is an error that says how many they would be") {
    forAll(Gen.choose(0, 40), Gen.choose(0, 40), Gen.oneOf(true, false)) { (first, second, single) =>
      val written      = new Written(40)
      def more(): Unit =
        if (single) (1 to second).foreach(_ => written.output.write(1))
        else written.output.write(new Array[Byte](50), 3, second)
      written.output.write(new Array[Byte](first))
      if (first + second <= 40) more()
      else {
        val e = intercept[RuntimeException with PulsarError](more())
        assertEquals(e.parameters("bytes").toInt, if (single) 41 else first + second)
      }
    }
  }
}
