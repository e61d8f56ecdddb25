package io.github.pulsarspark.pulsar.connection

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.core.util.{DefaultIndenter, DefaultPrettyPrinter}
import com.fasterxml.jackson.databind.ObjectMapper

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.options.registry.OptionRegistry

/** `client-fields.json` is how Python and the reference page know the settings of the Pulsar client. `UPDATE=1` writes
  * it anew.
  */
final class ClientFieldsSuite extends UnitSuite {

  private val name = "io/github/pulsarspark/client-fields.json"

  /** The source file, whichever folder the build starts the tests in. */
  private def file: Path = {
    val folders = Iterator.iterate(Path.of("").toAbsolutePath)(_.getParent).takeWhile(_ != null)
    val tails   = Seq("connector/src/main/resources", "src/main/resources")
    folders.flatMap(f => tails.map(f.resolve)).map(_.resolve(name)).find(p => Files.isDirectory(p.getParent)).get
  }

  private def text(fields: Map[String, Seq[String]]): String = {
    val indent  = new DefaultIndenter("  ", "\n")
    val printer = new DefaultPrettyPrinter().withArrayIndenter(indent).withObjectIndenter(indent)
    val sorted  = new java.util.TreeMap(fields.view.mapValues(_.asJava).toMap.asJava)
    new ObjectMapper().writer(printer).writeValueAsString(sorted) + "\n"
  }

  private val ofPulsar = OptionRegistry.prefixes.filter(_.prefix.startsWith("pulsar."))

  test("client-fields.json lists the settings of the Pulsar client that is built in") {
    val result = text(ofPulsar.map(p => p.prefix -> ClientSettings.fields(p.prefix)).toMap)
    if (sys.env.contains("UPDATE")) Files.writeString(file, result)
    assertEquals(
      if (Files.exists(file)) Files.readString(file) else "",
      result,
      "run: UPDATE=1 tools/sbt 'connector/testOnly *ClientFieldsSuite'"
    )
  }

  test("the settings that a prefix is limited to are settings of the client") {
    assertEquals(ofPulsar.size, 3)
    ofPulsar.foreach(p => assertEquals(p.fields.diff(ClientSettings.fields(p.prefix)), Nil, p.prefix))
  }
}
