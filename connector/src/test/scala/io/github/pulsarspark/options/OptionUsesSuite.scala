package io.github.pulsarspark.options

import java.nio.file.{Files, Path}

import io.github.pulsarspark.{SourceFile, UnitSuite}
import io.github.pulsarspark.options.registry.OptionRegistry

/** An option is one row of `options.json` and one typed field, which a file of the room `options` fills, or the options
  * of a catalog.
  */
class OptionUsesSuite extends UnitSuite {

  private val main =
    Seq(Path.of("src/main/scala"), Path.of("connector/src/main/scala")).find(Files.isDirectory(_)).getOrElse(
      fail("no sources here")
    )

  private def isTyped(file: SourceFile) = file.room == "options" || file.path.endsWith("catalog/CatalogOptions.scala")

  private val lookup   = """\boptions(?:\.\w+)?\(("[^"]+"|[A-Z]\w*)\)""".r
  private val constant = """val ([A-Z]\w*)(?:: String)?\s*= ("[^"]+")""".r

  /** Names that the typed options look up, as texts or as constants of their file. */
  private val used = SourceFile.under(main).filter(isTyped).map(_.lines.mkString("\n")).flatMap { code =>
    val constants = constant.findAllMatchIn(code).map(m => m.group(1) -> m.group(2)).toMap
    lookup.findAllMatchIn(code).map(_.group(1)).map(name => constants.getOrElse(name, name).replace("\"", ""))
  }.toSet

  test("every option of the table has a typed use") {
    assertEquals(OptionRegistry.definitions.map(_.key).filterNot(used), Nil)
    assertEquals(OptionRegistry.prefixes.map(_.prefix).filterNot(used), Nil)
  }

  test("every option that is looked up is in the table") {
    assertEquals(used -- OptionRegistry.definitions.map(_.key) -- OptionRegistry.prefixes.map(_.prefix),
      Set.empty[String])
  }
}
